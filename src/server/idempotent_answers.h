// Answers to requests with an `Idempotency-Key`, so that a repeat gets the first one's answer instead of a
// second change, on whatever node and after a restart: they stand in the store, for as long as it keeps keys. That
// a request is under way is known to its own node only. An answer is kept after the change: what must not be done twice
// when the server dies in between has its key in the commit too (starts, signals, completions, runs; RequestKey).
#pragma once

#include <functional>
#include <mutex>
#include <set>
#include <string>

#include "coordinator/coordinator.h"
#include "server/http_server.h"

namespace cairn::server {

class IdempotentAnswers {
 public:
  static constexpr std::size_t body_bytes_max = 64u << 10;  // a larger answer is not kept

  // `coordinator` outlives it.
  explicit IdempotentAnswers(Coordinator& coordinator) : coordinator_(coordinator) {}

  enum class Found { first, repeat, other_request, in_progress };
  struct Known {
    Found found = Found::first;
    Response answer;  // of a repeat
  };
  // `scope` is who, where and the key. On `first` the caller must `end` it later.
  Result<Known> begin(const std::string& scope, const std::string& request_hash);
  // Without an answer: a repeat will be a first request again. `kept` is called once the answer is durable, or could
  // not be kept (that is logged): by this thread or one of the commit queue's. This thread does not wait, so it may
  // itself be one of the queue's.
  void end(const std::string& scope, const std::string& request_hash, const Response* answer,
           std::function<void()> kept);

 private:
  void forget(const std::string& scope);

  Coordinator& coordinator_;
  std::mutex mutex_;
  std::set<std::string> under_way_;
};

}  // namespace cairn::server
