// A way to the outside: makes the calls of one kind of run. Registered by name; `call: {NAME: …}` in a
// definition becomes runs of type cairn.NAME.v1, which the worker of that name executes.
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

// One attempt. What it carries is stored; secrets stand in it as marks (transport/secrets.h).
struct TransportCall {
  RunId run;
  std::optional<InstanceId> instance;
  Json request;                 // the value of `call.NAME`
  std::string idempotency_key;  // the same for every attempt
  std::string trace = {};       // the traceparent that the run carries; empty: the trace is the instance's own
  int attempt = 1;
  Duration timeout = Duration::of_seconds(30);  // of the whole attempt
};

struct TransportAnswer {
  Json result;
  std::optional<Failure> failure;
  bool retry = true;                    // false: trying again is no use
  std::optional<Duration> retry_after;  // what the other side asked for
};

class Transport {
 public:
  using Done = std::function<void(TransportAnswer)>;

  virtual ~Transport() = default;
  virtual const std::string& name() const = 0;
  // Returns at once. `done` is called once, from a thread of the transport's, which it must not block; after
  // the destructor nothing is called any more, and whatever was under way has been answered.
  virtual void send(TransportCall call, Done done) = 0;
};

inline std::string run_type_of(const std::string& transport) { return "cairn." + transport + ".v1"; }

}  // namespace cairn
