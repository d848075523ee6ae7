#include "api/telemetry/readiness.h"

#include <utility>

#include "api/problem.h"

namespace cairn::api {
namespace {

Response store_is_silent() {
  return problem(503, "unavailable", "The store is unavailable", "the store has not answered in time");
}

}  // namespace

Readiness::~Readiness() {
  checks_.request_stop();
  clock_.request_stop();
}

void Readiness::ask(Reply reply) {
  std::optional<Response> answer;
  {
    const std::scoped_lock lock(mutex_);
    const Instant now = std::chrono::steady_clock::now();
    if (last_ && now < last_at_ + times_.kept) {
      answer = last_;
    } else if (checking_since_ && now >= *checking_since_ + times_.patience) {
      answer = store_is_silent();
    } else {
      waiting_.push_back(std::move(reply));
      wanted_ = true;
      if (!checks_.joinable()) {
        checks_ = std::jthread([this](const std::stop_token& stop) { run_checks(stop); });
        clock_ = std::jthread([this](const std::stop_token& stop) { watch_time(stop); });
      }
      changed_.notify_all();
      return;
    }
  }
  reply(std::move(*answer));
}

std::vector<Reply> Readiness::take_waiting() { return std::exchange(waiting_, {}); }

void Readiness::run_checks(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return wanted_; })) {
    wanted_ = false;
    checking_since_ = std::chrono::steady_clock::now();
    changed_.notify_all();
    lock.unlock();
    Response answer = check_();
    lock.lock();
    checking_since_.reset();
    last_ = answer;
    last_at_ = std::chrono::steady_clock::now();
    const std::vector<Reply> waiting = take_waiting();
    lock.unlock();
    for (const Reply& reply : waiting) reply(answer);
    lock.lock();
  }
}

void Readiness::watch_time(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return checking_since_ && !waiting_.empty(); })) {
    const Instant until = *checking_since_ + times_.patience;
    if (changed_.wait_until(lock, stop, until, [this] { return !checking_since_ || waiting_.empty(); })) continue;
    if (stop.stop_requested()) return;
    const std::vector<Reply> waiting = take_waiting();
    lock.unlock();
    for (const Reply& reply : waiting) reply(store_is_silent());
    lock.lock();
  }
}

}  // namespace cairn::api
