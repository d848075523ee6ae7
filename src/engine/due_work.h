// Work that falls due without a request: timers, messages between instances, runs without attempts left, slices that a
// crash interrupted. Each call does one bounded batch, waits for it and returns its size. Loops and tests call these.
// Safe from several threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "engine/context.h"
#include "engine/deliveries.h"
#include "engine/postponed_work.h"
#include "engine/run_reports.h"
#include "engine/undeliverable.h"

namespace cairn {

class DueWork {
 public:
  DueWork(EngineContext& context, Deliveries& deliveries, RunReports& reports, PostponedWork& postponed)
      : context_(context),
        store_(context.store),
        deliveries_(deliveries),
        reports_(reports),
        postponed_(postponed),
        undeliverable_(context, deliveries.queue(), postponed) {}

  std::size_t fire_timers() { return fire_timers(context_.options.due_batch); }
  std::size_t fire_timers(std::size_t max);
  std::size_t dispatch_messages();
  std::size_t end_exhausted_runs();
  // Turns kept signals whose time to live is over into dead letters. Instances do it themselves for those they keep.
  std::size_t expire_signals();
  // Continues slices that a checkpoint interrupted before a crash. Call it once, after opening. If the store cannot
  // list them all now, `fire_timers` does it again.
  std::size_t resume_interrupted_slices();
  // Does all due work until none is left. Schedules are not fired (schedule/schedules.h).
  void run_until_idle();

  // When the next work is due, for a caller that has done the work that was due at `looked_at`: the earliest time that
  // the store knows, or the time of postponed work.
  Result<std::optional<Timestamp>> next_due(Timestamp looked_at);
  Result<std::optional<Timestamp>> next_due() { return next_due(store_.now()); }

 private:
  void deliver_all(std::vector<Delivery> deliveries);
  void drop_repeat(const Delivery& delivery);
  Result<RunAnswer> end_exhausted(const RunRow& run);

  EngineContext& context_;
  Store& store_;
  Deliveries& deliveries_;
  RunReports& reports_;
  PostponedWork& postponed_;
  Undeliverable undeliverable_;
  std::mutex mutex_;
  std::map<std::string, Timestamp> unended_;  // runs that could not be ended, and when to try next
  std::atomic<bool> resumes_again_ = false;
};

}  // namespace cairn
