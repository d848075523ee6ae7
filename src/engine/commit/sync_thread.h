// The sync thread: it waits for the disk, so that the writer can work on the next transaction meanwhile. It calls only
// the store's sync, and then hands the batch to the answer thread. It exists only for stores that commit and sync in
// two steps (StoreTraits::commits_unsynced).
#pragma once

#include <thread>

#include "engine/commit/answer_thread.h"
#include "engine/commit/batch_line.h"
#include "engine/commit/unit_backlog.h"
#include "store/store.h"

namespace cairn {

class SyncThread {
 public:
  SyncThread(Store& store, UnitBacklog& backlog, CommitProgress& progress, AnswerThread& answers)
      : store_(store), backlog_(backlog), progress_(progress), answers_(answers), thread_([this] { run(); }) {}

  // For the writer. The batch is committed and not synced.
  void push(CommitBatch batch) { unsynced_.push(std::move(batch)); }
  // Syncs what was pushed and ends the thread.
  void stop();

 private:
  void run();

  Store& store_;
  UnitBacklog& backlog_;
  CommitProgress& progress_;
  AnswerThread& answers_;
  BatchLine unsynced_;
  std::jthread thread_;
};

}  // namespace cairn
