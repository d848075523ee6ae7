// A kind of call that a program adds to the engine (EngineOptions::transports). A step `call: {NAME: …}` is then made
// by the transport of that name.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/id.h"
#include "base/json.h"
#include "base/time.h"
#include "instance/failure.h"

namespace cairn {

// One attempt of a call. Requests are stored, so they contain marks instead of
// secrets.
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

}  // namespace cairn
