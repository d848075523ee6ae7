// Reports when the system clock is set, forward or back. Code that sleeps until an instant of that clock must check
// again: after the clock is set back, the instant is further away.
#pragma once

#include <functional>
#include <thread>

namespace cairn {

class ClockWatch {
 public:
  // A separate thread sleeps until the clock is set and then calls `was_set`.
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
