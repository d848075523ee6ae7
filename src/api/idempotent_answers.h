// Answers to requests with an `Idempotency-Key`. A repeat gets the first answer again, byte for byte, instead of a
// second change: on every node and after a restart, because answers are in the store for as long as it keeps keys. A
// repeat that comes while the first request is still being carried out on the same node waits for that answer.
//
// An answer is kept after its change. What must not be done twice when the server dies in between has its key in the
// commit too. These are starts, signals, completions, submitted runs and operations on instances (RequestKey), and
// reports, releases and cancellations of runs (engine/run_key.h).
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "api/http_types.h"
#include "engine/core.h"

namespace cairn::api {

class IdempotentAnswers {
 public:
  // Larger answers are not stored: before and after compression. An answer to 5000 runs has 400 KiB.
  static constexpr std::size_t body_bytes_max = 8u << 20;
  static constexpr std::size_t stored_bytes_max = 1u << 20;

  // `core` must outlive it.
  explicit IdempotentAnswers(EngineCore& core) : core_(core) {}

  enum class Found {
    first,          // the caller carries the request out and must `end` it
    repeat,         // `answer` is to be sent
    other_request,  // the key belongs to another request
    in_progress,    // the same request is being carried out: `later` is called
  };
  struct Known {
    Found found = Found::first;
    Response answer;
  };
  // `scope` is the sender, the route, the path and the key. `later` is called only on `in_progress`, once, by any
  // thread, with `repeat` or `other_request`; it must not wait. `created` tells which resource the path names now: an
  // id can be used again after retention has removed its resource, and then the key is a new one. Empty: unknown, or
  // the path names none.
  Result<Known> begin(const std::string& scope, const std::string& request_hash, Done<Result<Known>> later,
                      const std::string& created = {});
  // Passes the answer on once it is durable, or could not be kept (that is logged): from this thread or one of the
  // commit queue's. This thread does not wait, so it may itself be one of the queue's. Refusals are not kept, because
  // they changed nothing: their repeat is a first request again.
  void end(const std::string& scope, const std::string& request_hash, Response answer,
           std::function<void(Response)> send);

 private:
  struct PendingRequest {
    std::string request_hash;
    std::vector<Done<Result<Known>>> waiting;
    std::string created;
    std::string key;  // under which the answer is kept
  };
  // Ends what `begin` began and tells the repeats that waited for it.
  void conclude(const std::string& scope, const Result<Known>& outcome);

  EngineCore& core_;
  std::mutex mutex_;
  std::map<std::string, PendingRequest> pending_;
};

}  // namespace cairn::api
