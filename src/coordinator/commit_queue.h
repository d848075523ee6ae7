// Group commit. As many threads write as the store can use: each takes whatever is queued and commits it in
// one transaction. When idle a unit is committed at once; under load the batches grow by themselves. What can
// be done beside the writing is not a writer's work: snapshots are encoded by those who ask, and a large batch
// is answered by a thread of its own, because waking hundreds of callers takes as long as writing for them.
// A host that has only one thread asks for `by_caller`: then there are no threads, and each unit is
// committed before `submit` returns.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "store/store.h"

namespace cairn {

class CommitQueue {
 public:
  static constexpr std::size_t batch_max = 1024;
  static constexpr std::size_t waiting_max = 65'536;

  using Answer = std::function<void(Result<CommitOutcome>)>;
  enum class Writer { thread, by_caller };

  explicit CommitQueue(Store& store, Writer writer = Writer::thread);
  ~CommitQueue();

  // `answer` is called once, from a thread of the queue: it must be quick and must not call back here.
  // ErrorCode::limit through `answer` when too much waits already.
  void submit(Unit unit, Answer answer);
  // The same, waiting for the answer.
  Result<CommitOutcome> commit(Unit unit);

  // What is queued is still written; later submissions are ErrorCode::unavailable.
  void stop();

 private:
  struct Entry {
    Unit unit;
    Answer answer;
  };
  struct Batch {
    std::vector<Unit> units;
    std::vector<Answer> answers;
    std::optional<Result<std::vector<CommitOutcome>>> outcomes;
  };
  void run();
  void run_answers();
  static void answer(Batch& batch);

  Store& store_;
  const Writer kind_;
  std::mutex mutex_;
  std::condition_variable filled_;
  std::deque<Entry> waiting_;
  bool stopping_ = false;

  std::mutex written_mutex_;
  std::condition_variable written_changed_;
  std::deque<Batch> written_;  // committed, to be answered
  bool all_written_ = false;

  std::vector<std::jthread> writers_;
  std::jthread answerer_;
};

}  // namespace cairn
