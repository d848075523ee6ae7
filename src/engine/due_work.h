// What is due by itself: timers, messages between instances, runs without attempts left, slices that a crash
// interrupted. Each call does one bounded batch and waits for it; it returns how much there was. The loops call these,
// and so do tests. Safe from several threads.
#pragma once

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
  // Continues slices that a checkpoint interrupted and a crash left: once, after opening.
  std::size_t resume_interrupted_slices();
  // All of it until nothing is due. Schedules are not fired (schedule/schedules.h).
  void run_until_idle();

  // When there is something to do next, for a caller that looked at everything that was due at `looked_at`: the
  // earliest that the store knows, and what was postponed.
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
  std::map<std::string, Timestamp> unended_;  // runs that could not be ended, until when they are left alone
};

}  // namespace cairn
