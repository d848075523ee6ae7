// Group commit for standalone runs: all waiting submissions go to the store in one transaction. An idle node writes a
// run at once; under load the batches grow. If the store has several writers, two threads alternate: one collects while
// the other waits for the disk.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/done.h"
#include "base/limits.h"
#include "store/access_store.h"
#include "store/run_store.h"

namespace cairn {

using SubmittedRun = std::pair<RunRow, bool>;  // the row, and whether it is new

class RunIntake {
 public:
  static constexpr std::size_t batch_max = 1000;

  // `waiting_max`: how many runs may wait for the store.
  RunIntake(RunStore& runs, AccessStore& audit, std::size_t waiting_max = Limits().runs_waiting_max);
  ~RunIntake();

  // Calls `done` once, from a writing thread; it must not block and must not call back into this object. `done`
  // receives ErrorCode::unavailable if the queue is full.
  void submit(RunRow run, Done<Result<SubmittedRun>> done);
  // Queued runs are still written. Later submissions get ErrorCode::unavailable.
  void stop();

 private:
  void write();

  RunStore& runs_;
  AccessStore& audit_;
  const std::size_t waiting_max_;
  std::mutex mutex_;
  std::condition_variable filled_;
  struct Entry {
    RunRow run;
    Done<Result<SubmittedRun>> done;
    std::vector<AuditRow> audit;  // pending audit rows of the submitting thread
  };
  std::deque<Entry> waiting_;
  bool stopping_ = false;
  std::vector<std::jthread> writers_;  // started by the first submission
};

}  // namespace cairn
