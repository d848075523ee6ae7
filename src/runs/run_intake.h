// Group commit for runs that are submitted on their own: whatever waits goes to the store in one
// transaction. When idle a run is written at once; under load the batches grow by themselves. Where the store has
// several writers, two take turns: one collects while the other waits for the disk.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "store/store.h"

namespace cairn {

using SubmittedRun = std::pair<RunRow, bool>;  // the row, and whether it is new

class RunIntake {
 public:
  static constexpr std::size_t batch_max = 1000;
  static constexpr std::size_t waiting_max = 65'536;

  using Answer = std::function<void(Result<SubmittedRun>)>;

  explicit RunIntake(Store& store);
  ~RunIntake();

  // `answer` is called once, from a writing thread: it must be quick and must not call back here.
  // ErrorCode::limit through `answer` when too much waits already.
  void submit(RunRow run, Answer answer);
  // What is queued is still written; later submissions are ErrorCode::unavailable.
  void stop();

 private:
  void write();

  Store& store_;
  std::mutex mutex_;
  std::condition_variable filled_;
  struct Entry {
    RunRow run;
    Answer answer;
    std::vector<AuditRow> audit;  // what the submitting thread pending_audit the audit trail
  };
  std::deque<Entry> waiting_;
  bool stopping_ = false;
  std::vector<std::jthread> writers_;  // from the first submission on
};

}  // namespace cairn
