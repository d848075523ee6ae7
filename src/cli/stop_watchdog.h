// Ends the process if its orderly stop takes too long: a process that ignores SIGTERM blocks the shutdown of its host.
// Everything acknowledged is durable, so the next start recovers as after a crash.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace cairn::cli {

class StopWatchdog {
 public:
  // How much longer than its drain time a stop may take.
  static constexpr std::chrono::seconds margin{5};

  StopWatchdog() = default;
  ~StopWatchdog();
  // Call it once, when the stop begins. The process ends with exit_timed_out if this object lives longer than `limit`.
  // Declare it before everything whose destruction may block.
  void arm(std::chrono::milliseconds limit);
  StopWatchdog(const StopWatchdog&) = delete;
  StopWatchdog& operator=(const StopWatchdog&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool in_time_ = false;
  std::jthread thread_;
};

}  // namespace cairn::cli
