// The queue of a host that has only one thread and runs many activities on it (the simulation). There is no writer
// thread: an activity that waits for an answer writes the queued units and answers them itself. Its answers may call
// the store, because there is no other thread to leave that to.
#pragma once

#include <atomic>
#include <functional>
#include <utility>

#include "engine/commit/commit_writer.h"
#include "engine/commit/unit_backlog.h"

namespace cairn {

class InlineWriter {
 public:
  // `yield` lets the other activities of the thread run. `commits_max`: commits that may run at the same time.
  InlineWriter(UnitBacklog& backlog, BatchCommit& commit, std::size_t commits_max, std::function<void()> yield)
      : backlog_(backlog), commit_(commit), commits_max_(commits_max), yield_(std::move(yield)) {}

  // Writes queued units, and yields when there are none, until `done` returns true.
  void run_until(const std::function<bool()>& done);
  // Writes and answers one batch. False: no units wait, or `commits_max` commits run already.
  bool write_queued();

 private:
  UnitBacklog& backlog_;
  BatchCommit& commit_;
  const std::size_t commits_max_;
  const std::function<void()> yield_;
  std::atomic<std::size_t> commits_ = 0;
};

}  // namespace cairn
