// src/node turns the engine into a running process. It starts the threads and closes them in the right order
// (engine.cc, the class behind include/cairn/engine.h), waits for due work (this header) and runs handlers and
// transports (worker_pool.h). Loops has one thread for timers and leases, one for messages, and one that helps when
// many timers are due; all block until there is work. The module uses engine, runs, schedule, upkeep, outbox and
// transport. Read `Engine::open` and `Loops::run_timers` first.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "engine/core.h"
#include "time/clock_watch.h"

namespace cairn::node {

// When the timer thread looks again: at `due`, the next time that the store knows. Work that was due at `looked_at` and
// is still due after a pass cannot be done now: the disk is full, or another transaction has locked it. It is
// repeated after a pause.
std::optional<Timestamp> next_look(std::optional<Timestamp> due, Timestamp looked_at);

class Loops {
 public:
  // `runs_due` is called when runs may have become ready to lease.
  Loops(EngineCore& core, std::function<void()> runs_due);
  ~Loops();

  void start();
  void stop();
  void wake(const Wakeup& wakeup);

 private:
  void run_timers();
  void run_messages();
  void help_with_timers();

  EngineCore& core_;
  std::function<void()> runs_due_;
  std::mutex mutex_;
  std::condition_variable timers_changed_;
  std::condition_variable messages_came_;
  std::condition_variable help_wanted_;
  std::optional<Timestamp> told_due_;  // the earliest time written since the last look at the timers
  std::optional<Timestamp> armed_;     // when the sleeping timer thread wakes up by itself
  std::set<std::string> released_;     // schedules whose last firing has ended since then
  bool cut_ = false;                   // another node may have left deferred slices
  bool messages_ = true;               // true at first, so that the queue is read once at the start
  bool help_ = false;                  // more timers are due than fit one batch
  bool stopping_ = false;
  const bool has_helper_;
  std::optional<ClockWatch> clock_watch_;  // timers sleep by the system clock
  std::jthread timers_thread_;
  std::jthread help_thread_;  // only where a batch can be decided while another one is written
  std::jthread messages_thread_;
};

}  // namespace cairn::node
