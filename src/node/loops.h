// The threads that wait for what is due: one for timers and leases, one for messages, and one that helps with the
// timers when many are due at once. All block until there is something to do; none of them looks at the store on a
// clock.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "time/clock_watch.h"
#include "engine/coordinator.h"

namespace cairn {

class Loops {
 public:
  // `runs_due` is called when runs may have become ready to be leased.
  Loops(Coordinator& coordinator, std::function<void()> runs_due);
  ~Loops();

  void start();
  void stop();
  void wake(const Wakeup& wakeup);

 private:
  void run_timers();
  void run_messages();
  void help_with_timers();

  Coordinator& coordinator_;
  std::function<void()> runs_due_;
  std::mutex mutex_;
  std::condition_variable timers_changed_;
  std::condition_variable messages_came_;
  std::condition_variable help_wanted_;
  std::optional<Timestamp> told_due_;  // the earliest written since the timers were last looked at
  std::optional<Timestamp> armed_;     // when the sleeping timers' thread will wake by itself
  std::set<std::string> released_;     // schedules whose last firing has ended since
  bool cut_ = false;                   // another node may have left slices that it had cut
  bool messages_ = true;               // look once at the beginning
  bool help_ = false;                  // more timers are due than one batch
  bool stopping_ = false;
  std::optional<ClockWatch> clock_watch_;  // timers sleep by the system's clock
  std::jthread timers_thread_;
  std::jthread help_thread_;  // only where two can write at once
  std::jthread messages_thread_;
};

}  // namespace cairn
