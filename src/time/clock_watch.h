// Tells when the system's clock was set, forward or back. Whoever sleeps until an instant of that clock must look
// again: set back, the instant is further away than it was.
#pragma once

#include <functional>
#include <thread>

namespace cairn {

class ClockWatch {
 public:
  // `was_set` is called from a thread of its own, which sleeps until then.
  explicit ClockWatch(std::function<void()> was_set);
  ~ClockWatch();
  ClockWatch(const ClockWatch&) = delete;
  ClockWatch& operator=(const ClockWatch&) = delete;

 private:
  void run();

  std::function<void()> was_set_;
  int timer_ = -1;
  int stop_ = -1;
  std::jthread thread_;
};

}  // namespace cairn
