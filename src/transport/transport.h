// src/transport makes all outgoing calls of the engine. `Transport` is the interface for one kind of call; http and
// graphql are built in, and a program may register more by name. A step `call: {NAME: …}` becomes runs of type
// cairn.NAME.v1, which the transport of that name executes. All HTTP requests pass through one client (http_client.h),
// which enforces the egress policy (egress_policy.h) and receives secrets only at the moment of sending (secrets.h).
// The module uses base, expr and instance, and knows neither the store nor the engine. Read `HttpTransport::send`
// first.
#pragma once

#include <string>

#include "cairn/transport.h"

namespace cairn {

inline std::string run_type_of(const std::string& transport) { return "cairn." + transport + ".v1"; }

}  // namespace cairn
