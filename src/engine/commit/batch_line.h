// A short queue of batches between two threads. A full line blocks the pushing thread, which bounds the memory of
// batches in transit. Safe from several threads.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

#include "engine/commit/commit_batch.h"

namespace cairn {

class BatchLine {
 public:
  static constexpr std::size_t length_max = 4;

  void push(CommitBatch batch);      // waits while the line is full
  std::optional<CommitBatch> pop();  // waits for a batch; empty: the line is closed and has no more batches
  void close();                      // no `push` may follow

 private:
  std::mutex mutex_;
  // Two conditions, so that a notification for one side cannot wake the other.
  std::condition_variable filled_, has_room_;
  std::deque<CommitBatch> batches_;
  bool closed_ = false;
};

}  // namespace cairn
