// Incidents of runs: attempts that are used up, and leases that a worker lost. Each is a log line, a count
// (base/incidents.h) and an event of the outbox. Safe from several threads.
#pragma once

#include <deque>
#include <mutex>
#include <set>
#include <string>

#include "engine/commit/commit_queue.h"
#include "engine/context.h"

namespace cairn {

// The dead letter of a run that has no attempt left. `run` has its payload.
DeadLetter letter_of(const RunRow& run, const Failure& failure, const std::string& node);

class RunIncidents {
 public:
  RunIncidents(EngineContext& context, CommitQueue& queue) : context_(context), queue_(queue) {}

  // Call it when the end is committed. The commit contains the event (exhausted_event).
  static void exhausted(const RunRow& run, const Failure& failure);
  // A worker reported or renewed with the fence of a lease that it no longer has; `row` is the run now. A repeat of an
  // accepted report and a cancelled run are no incident. This node reports each lost lease once, as far as it
  // remembers.
  void lease_lost(const RunRow& row, std::uint64_t fence, const std::string& worker);

 private:
  static constexpr std::size_t remembered_max = 1000;
  bool is_new(const std::string& lease);

  EngineContext& context_;
  CommitQueue& queue_;
  std::mutex mutex_;
  std::set<std::string> told_;
  std::deque<std::string> order_;  // of `told_`, oldest first
};

}  // namespace cairn
