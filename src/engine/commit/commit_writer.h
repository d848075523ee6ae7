// The writer: the thread that commits batches. A store may have several writers, and each is one CommitWriter. It calls
// the store's commit and sync, and never another store function. It answers small batches itself; larger ones go to
// the sync thread or the answer thread.
#pragma once

#include <chrono>
#include <thread>

#include "engine/commit/answer_thread.h"
#include "engine/commit/sync_thread.h"
#include "engine/commit/unit_backlog.h"
#include "store/store.h"

namespace cairn {

// Commits one batch on the calling thread. Shared by all writers; safe from several threads.
class BatchCommit {
 public:
  // `unsynced`: the caller syncs later, and the transaction grows while the disk is busy.
  BatchCommit(Store& store, UnitBacklog& backlog, CommitProgress& progress, bool unsynced)
      : store_(store), backlog_(backlog), progress_(progress), unsynced_(unsynced) {}

  void write(CommitBatch& batch);
  // Whether the calling thread is inside `write`.
  bool runs_here() const { return running == this; }

 private:
  static thread_local const BatchCommit* running;

  Store& store_;
  UnitBacklog& backlog_;
  CommitProgress& progress_;
  const bool unsynced_;
};

class CommitWriter {
 public:
  struct Parts {
    Store& store;
    UnitBacklog& backlog;
    BatchCommit& commit;
    AnswerThread& answers;
    SyncThread* syncs;                // null: the store syncs inside its commit
    std::chrono::milliseconds quiet;  // after this time without a commit the store frees its caches
  };
  // Starts the thread. It ends when the backlog is stopped and empty.
  explicit CommitWriter(const Parts& parts) : parts_(parts), thread_([this] { run(); }) {}

  void join() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  void run();

  const Parts parts_;
  std::jthread thread_;
};

}  // namespace cairn
