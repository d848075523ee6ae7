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

  // Calls `answer` once, from a writing thread; it must not block and must not call back into this object. `answer`
  // receives ErrorCode::unavailable if the queue is full.
  void submit(RunRow run, Answer answer);
  // Queued runs are still written. Later submissions get ErrorCode::unavailable.
  void stop();

 private:
  void write();

  Store& store_;
  std::mutex mutex_;
  std::condition_variable filled_;
  struct Entry {
    RunRow run;
    Answer answer;
    std::vector<AuditRow> audit;  // pending audit rows of the submitting thread
  };
  std::deque<Entry> waiting_;
  bool stopping_ = false;
  std::vector<std::jthread> writers_;  // started by the first submission
};

}  // namespace cairn
