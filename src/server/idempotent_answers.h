// Answers to requests with an `Idempotency-Key`, so that a repeat gets the first one's answer instead of a
// second change. Kept in memory: starts, signals, completions and runs have keys of their own in the store,
// which last longer than this process.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "server/http_server.h"

namespace cairn::server {

class IdempotentAnswers {
 public:
  static constexpr std::size_t answers_max = 10'000;
  static constexpr std::chrono::hours kept{24};

  enum class Found { first, repeat, other_request, in_progress };
  // `scope` is who and where. On `first` the caller must `keep` or `forget` later.
  Found begin(const std::string& scope, const std::string& request_hash, std::optional<Response>& answer);
  void keep(const std::string& scope, const Response& answer);
  void forget(const std::string& scope);

 private:
  struct Entry {
    std::string request_hash;
    std::optional<Response> answer;  // nothing while the first one is under way
    std::chrono::steady_clock::time_point until;
  };
  void drop_old();

  std::mutex mutex_;
  std::map<std::string, Entry> entries_;
  std::deque<std::string> order_;  // of the answered ones
};

}  // namespace cairn::server
