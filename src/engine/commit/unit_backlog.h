// The units that wait for a commit, and the rule when a commit is worth its cost. It has no thread: each function says
// which thread role calls it. It calls neither the store nor an answer. Safe from several threads.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "engine/commit/commit_batch.h"
#include "engine/commit/commit_progress.h"

namespace cairn {

class UnitBacklog {
 public:
  static constexpr std::size_t batch_max = 1024;

  // `writers`: how many threads take batches. `waiting_max`: how many units may wait.
  UnitBacklog(std::size_t writers, CommitProgress& progress, std::size_t waiting_max = Limits().commits_waiting_max)
      : writers_(writers), progress_(progress), waiting_max_(waiting_max) {}

  // For requests, on any thread. `add` moves from both arguments if it accepts the unit and returns the error if not.
  std::optional<Error> add(Unit& unit, CommitAnswer& answer);
  // Adds units in order while there is room. Returns how many it took; `refusal` is the error of the others.
  std::size_t add_all(std::span<Unit> units, std::span<CommitAnswer> answers);
  Error refusal();
  // Refuses later units. Writers still take the units that wait.
  void stop();

  // For writer threads. `take` waits for units that are worth a commit. It returns `idle` once after nothing was
  // committed for `quiet`, and `stopped` if no more units will come.
  enum class Taken { units, idle, stopped };
  Taken take(CommitBatch& batch, std::chrono::milliseconds quiet);
  // Inside a transaction: waits while the disk is busy, and adds a part with the units that came meanwhile. Returns
  // that part, or an empty one when the disk is free: then the transaction must commit.
  std::span<const Unit> take_more(CommitBatch& batch);
  // The store has committed the batch. `syncing`: the sync thread gets it, so the disk is busy until `synced`.
  void written(const CommitBatch& batch, bool syncing);

  // For the sync thread.
  void synced();

  // For the inline writer: takes all waiting units without waiting. False: none wait.
  bool take_now(CommitBatch& batch);

  // For the thread that has answered the batch. Keeps its memory for later batches.
  void answered(CommitBatch& batch);

 private:
  std::size_t waiting() const { return units_.size() - taken_; }
  bool worth_writing() const;
  void push(Unit&& unit, CommitAnswer&& answer);
  void move_units(CommitBatch& batch);

  const std::size_t writers_;
  CommitProgress& progress_;
  const std::size_t waiting_max_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // The first `taken_` elements of both are moved from. Usually a batch takes both vectors whole.
  std::vector<Unit> units_;
  std::vector<CommitAnswer> answers_;
  std::size_t taken_ = 0;
  std::vector<std::pair<std::vector<Unit>, std::vector<CommitAnswer>>> spare_;  // empty vectors with capacity
  bool stopping_ = false;
  bool idle_ = true;         // since the last batch, `take` has returned `idle`
  std::size_t writing_ = 0;  // units in running commits
  bool syncing_ = false;     // the sync thread has a batch
  bool wants_more_ = false;  // a writer waits in `take_more`
};

}  // namespace cairn
