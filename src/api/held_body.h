// Counts the body of a request in the memory for bodies until the request is answered.
#pragma once

#include <optional>

#include "api/route.h"

namespace cairn::api {

// While a change waits for the store, the values of the body stay in memory: the body counts until the answer. A long
// poll would keep the memory from others for a minute, so its operation decides. Empty if there is room.
std::optional<Response> hold_body(const Route& route, Call& call);

}  // namespace cairn::api
