// Whether connections' own threads may carry out requests that never wait. They spare two changes of threads, but
// whoever takes long there holds up the other connections: one that did closes the lane for a while.
#pragma once

#include <atomic>
#include <chrono>
#include <ctime>

namespace cairn::server {

class QuickLane {
 public:
  static constexpr std::chrono::microseconds quick{2'000};
  static constexpr std::chrono::milliseconds closed_for{1'000};

  bool is_open(std::chrono::steady_clock::time_point now) const {
    return now.time_since_epoch().count() >= closed_until_.load(std::memory_order_relaxed);
  }

  // Carries something out and looks how long the processor took: a thread that had to wait for one is not slow.
  template <class Work>
  void pass(const Work& work) {
    const std::chrono::nanoseconds before = thread_time();
    work();
    if (thread_time() - before > quick) {
      closed_until_ = (std::chrono::steady_clock::now() + closed_for).time_since_epoch().count();
    }
  }

 private:
  static std::chrono::nanoseconds thread_time() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  }

  std::atomic<std::chrono::steady_clock::rep> closed_until_{
      std::chrono::steady_clock::time_point::min().time_since_epoch().count()};
};

}  // namespace cairn::server
