// Group commit: the units that wait are committed together, in one transaction. An idle queue commits a unit at once;
// under load the batches grow. This class only builds the parts and takes the units. Each part has one thread role.
// - UnitBacklog: the units that wait, and the rule when a commit is worth its cost. It has no thread.
// - CommitWriter: the writer, which takes a batch and commits it. There are as many as the store can use.
// - SyncThread: waits for the disk, while the writer works on the next transaction.
// - AnswerThread: calls the answers of large batches.
// - InlineWriter: replaces these three threads for a host that has only one thread.
// - CommitProgress: how long nothing has moved, for /livez.
//
// Snapshots are encoded by the submitting threads, so that the writer does not have to.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/commit/commit_writer.h"
#include "engine/commit/inline_writer.h"

namespace cairn {

class CommitQueue {
 public:
  static constexpr std::chrono::milliseconds quiet_before_idle{2000};

  // With `yield` the queue has no threads (inline_writer.h). The store frees its caches when nothing was committed for
  // `quiet`.
  explicit CommitQueue(Store& store, std::function<void()> yield = {},
                       std::chrono::milliseconds quiet = quiet_before_idle,
                       std::size_t waiting_max = Limits().commits_waiting_max);
  ~CommitQueue();

  // `answer` is called once, from a thread of the queue: it must be quick, must not wait and must not call the store
  // (store_calls.h). It may submit. It gets ErrorCode::unavailable if too many units wait.
  void submit(Unit unit, CommitAnswer answer);
  // Submits many units, which go into as few transactions as possible. `answer` is called for each with its index.
  void submit_all(std::vector<Unit> units, std::function<void(std::size_t, Result<CommitOutcome>)> answer);
  // Submits a unit and waits for its answer.
  Result<CommitOutcome> commit(Unit unit);

  // Counts the answers that a caller expects, for callers that submit several units and then wait for all of them.
  class Expected {
   public:
    explicit Expected(CommitQueue& queue) : queue_(queue) {}
    void one_more();  // call it before the unit is submitted
    void answered();  // must be the last call of an answer
    void wait();

   private:
    CommitQueue& queue_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t open_ = 0;
  };

  // Calls `ask` with a function that receives the answer, and waits for that answer.
  template <typename Given, typename Ask>
  Given wait_for(const Ask& ask) {
    std::optional<Given> answer;
    Expected expected(*this);
    expected.one_more();
    ask(std::function<void(Given)>([&](Given given) {
      answer.emplace(std::move(given));
      expected.answered();
    }));
    expected.wait();
    return std::move(*answer);
  }

  // See CommitProgress. Never blocks.
  std::chrono::nanoseconds stalled_for() const { return progress_.stalled_for(); }

  // Whether the calling thread is inside a commit of this queue: then a notification of the store is about that commit.
  bool commits_here() const { return commit_.runs_here(); }

  // Queued units are still written. Later submissions get ErrorCode::unavailable.
  void stop();

 private:
  Store& store_;
  CommitProgress progress_;
  UnitBacklog backlog_;
  BatchCommit commit_;
  std::optional<InlineWriter> inline_writer_;  // without threads; then the others are absent
  std::optional<AnswerThread> answers_;
  std::optional<SyncThread> syncs_;
  std::deque<CommitWriter> writers_;
};

}  // namespace cairn
