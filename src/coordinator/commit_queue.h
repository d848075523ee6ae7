// Group commit. One thread writes: it takes whatever is queued, commits it in one transaction and
// answers each. When idle a unit is committed at once; under load the batches grow by themselves.
// A host that has only one thread asks for `by_caller`: then there is no writing thread, and each unit is
// committed before `submit` returns.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "store/store.h"

namespace cairn {

class CommitQueue {
 public:
  static constexpr std::size_t batch_max = 256;
  static constexpr std::size_t waiting_max = 65'536;

  using Answer = std::function<void(Result<CommitOutcome>)>;
  enum class Writer { thread, by_caller };

  explicit CommitQueue(Store& store, Writer writer = Writer::thread);
  ~CommitQueue();

  // `answer` is called once, from the writing thread: it must be quick and must not call back here.
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
  void run();

  Store& store_;
  const Writer kind_;
  std::mutex mutex_;
  std::condition_variable filled_;
  std::deque<Entry> waiting_;
  bool stopping_ = false;
  std::jthread writer_;
};

}  // namespace cairn
