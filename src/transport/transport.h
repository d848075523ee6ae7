// src/transport makes all outgoing calls of the engine. `Transport` is the interface for one kind of call; http and
// graphql are built in, and a program may register more by name. A step `call: {NAME: …}` becomes runs of type
// cairn.NAME.v1, which the transport of that name executes. All HTTP requests pass through one client (http_client.h),
// which enforces the egress policy (egress_policy.h) and receives secrets only at the moment of sending (secrets.h).
// The module uses base, expr and instance, and knows neither the store nor the engine. Read `HttpTransport::send`
// first.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/id.h"
#include "base/json.h"
#include "base/time.h"
#include "instance/failure.h"

namespace cairn {

// One attempt of a call. Requests are stored, so they contain marks instead of secrets (transport/secrets.h).
struct TransportCall {
  RunId run;
  std::optional<InstanceId> instance;
  Json request;                 // the value of `call.NAME`
  std::string idempotency_key;  // the same for every attempt
  std::string trace = {};       // the traceparent of the run; if empty, the call uses the instance's own trace
  int attempt = 1;
  Duration timeout = Duration::of_seconds(30);  // for the whole attempt
};

struct TransportAnswer {
  Json result;
  std::optional<Failure> failure;
  bool retry = true;                    // false if a retry cannot succeed
  std::optional<Duration> retry_after;  // requested by the other side
};

class Transport {
 public:
  using Done = std::function<void(TransportAnswer)>;

  virtual ~Transport() = default;
  virtual const std::string& name() const = 0;
  // Returns at once. The transport calls `done` once, from its own thread, which `done` must not block. The destructor
  // answers all calls in flight; no callback runs after it.
  virtual void send(TransportCall call, Done done) = 0;
};

inline std::string run_type_of(const std::string& transport) { return "cairn." + transport + ".v1"; }

}  // namespace cairn
