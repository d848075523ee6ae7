// Answers whether the server is ready without waiting for the store. A separate thread checks the store; if the store
// takes too long, the server is not ready.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "api/http_types.h"

namespace cairn::api {

class Readiness {
 public:
  using Check = std::function<Response()>;  // may block
  struct Times {
    std::chrono::milliseconds kept{1'000};      // how long a result is cached
    std::chrono::milliseconds patience{2'000};  // timeout of the store
  };

  explicit Readiness(Check check) : Readiness(std::move(check), Times()) {}
  Readiness(Check check, Times times) : check_(std::move(check)), times_(times) {}
  ~Readiness();
  Readiness(const Readiness&) = delete;
  Readiness& operator=(const Readiness&) = delete;

  // Answers at once if the last check is recent, otherwise after a check or the store's timeout. Never blocks.
  void ask(Reply reply);

 private:
  using Instant = std::chrono::steady_clock::time_point;
  void run_checks(const std::stop_token& stop);
  void watch_time(const std::stop_token& stop);
  std::vector<Reply> take_waiting();  // requires the mutex

  const Check check_;
  const Times times_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<Reply> waiting_;
  bool wanted_ = false;  // a check is requested
  std::optional<Instant> checking_since_;
  std::optional<Response> last_;
  Instant last_at_;
  std::jthread checks_;  // both start with the first request
  std::jthread clock_;
};

}  // namespace cairn::api
