// The answer thread: it calls the answers of large batches, because waking hundreds of callers takes as long as writing
// for them. Answers must not call the store (store_calls.h): the writer may wait for this thread.
#pragma once

#include <thread>

#include "engine/commit/batch_line.h"
#include "engine/commit/unit_backlog.h"

namespace cairn {

class AnswerThread {
 public:
  explicit AnswerThread(UnitBacklog& backlog) : backlog_(backlog), thread_([this] { run(); }) {}

  // For the writer and the sync thread. The batch is durable. A small batch is answered by the calling thread, because
  // handing it over would take longer.
  void give(CommitBatch batch);
  // Answers what was given and ends the thread.
  void stop();

 private:
  void run();
  void answer(CommitBatch& batch);

  UnitBacklog& backlog_;
  BatchLine unanswered_;
  std::jthread thread_;
};

}  // namespace cairn
