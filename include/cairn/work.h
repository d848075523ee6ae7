// Work for a handler, inside the engine (Engine::handle) or in a process of its own (Worker::handle), and its result.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "base/id.h"
#include "base/json.h"
#include "base/time.h"
#include "instance/failure.h"

namespace cairn {

// One attempt of a `worker` call. `idempotency_key` is the same for every attempt.
struct Work {
  RunId run;
  std::string type;
  std::string idempotency_key;
  Json payload;
  int attempt = 1;
  int attempts_max = 1;
  std::stop_token stop;                // requested when the run is cancelled or its lease is lost
  std::optional<InstanceId> instance;  // the instance that waits for it
  std::string trace;                   // the caller's W3C trace; empty: the instance has its own trace

  // W3C: the instance's trace with a span for this attempt. Computed on each call, which takes two hashes.
  std::string traceparent() const;
};
struct WorkDone {
  Json result;
  std::optional<Failure> failure;
  bool retry = true;  // false: a retry cannot help
  std::optional<Duration> retry_after;

  WorkDone(Json value) : result(std::move(value)) {}
  WorkDone(Failure why) : failure(std::move(why)) {}
};
using WorkHandler = std::function<WorkDone(const Work&)>;

}  // namespace cairn
