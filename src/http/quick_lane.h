// Decides whether connection threads may handle requests that never block. That saves two thread switches, but a slow
// request delays the other connections of the thread. One slow request therefore closes the lane for a while.
// `cairn-bench http-one-wait --outstanding 64` needs 9 % less CPU with it. `http-W1` is the same within the noise.
#pragma once

#include <atomic>
#include <chrono>
#include <ctime>

namespace cairn::http {

class QuickLane {
 public:
  static constexpr std::chrono::microseconds quick{2'000};
  static constexpr std::chrono::milliseconds closed_for{1'000};

  bool is_open(std::chrono::steady_clock::time_point now) const {
    return now.time_since_epoch().count() >= closed_until_.load(std::memory_order_relaxed);
  }

  // Runs `work`. A request is slow if it uses the CPU for long; waiting for the CPU does not count. Reading the CPU
  // time costs a system call, so it is read only for a while after a request took long.
  template <class Work>
  void pass(const Work& work) {
    const bool looked_at = suspicious_.load(std::memory_order_relaxed) > 0;
    if (looked_at) --suspicious_;
    const auto began = std::chrono::steady_clock::now();
    const auto before = looked_at ? thread_time() : std::chrono::nanoseconds(0);
    work();
    const auto now = std::chrono::steady_clock::now();
    if (now - began <= quick) return;
    suspicious_ = suspicious_for;
    if (looked_at && thread_time() - before > quick) closed_until_ = (now + closed_for).time_since_epoch().count();
  }

 private:
  static constexpr int suspicious_for = 32;

  static std::chrono::nanoseconds thread_time() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  }

  std::atomic<int> suspicious_{0};  // how many more requests are measured by CPU time
  std::atomic<std::chrono::steady_clock::rep> closed_until_{
      std::chrono::steady_clock::time_point::min().time_since_epoch().count()};
};

}  // namespace cairn::http
