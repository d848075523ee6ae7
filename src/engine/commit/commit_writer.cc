#include "engine/commit/commit_writer.h"

#include <algorithm>
#include <utility>

#include "base/memory.h"

namespace cairn {

namespace {

// The writer syncs batches up to this size itself: there is little to do meanwhile.
constexpr std::size_t synced_here_max = 4;

}  // namespace

thread_local const BatchCommit* BatchCommit::running = nullptr;

void BatchCommit::write(CommitBatch& batch) {
  const BatchCommit* const outer = std::exchange(running, this);
  progress_.enter_commit();
  batch.outcomes = unsynced_ ? store_.commit_unsynced(batch.parts.front(), [&] { return backlog_.take_more(batch); })
                             : store_.commit(batch.parts.front());
  progress_.leave_commit();
  running = outer;
}

void CommitWriter::run() {
  std::size_t size_before = 0;
  for (;;) {
    CommitBatch batch;
    const UnitBacklog::Taken taken = parts_.backlog.take(batch, parts_.quiet);
    if (taken == UnitBacklog::Taken::stopped) return;
    if (taken == UnitBacklog::Taken::idle) {
      // An idle server gives back the memory of its last load.
      parts_.store.release_caches();
      return_free_memory();
      continue;
    }
    parts_.commit.write(batch);
    // One small batch between large ones does not mean that the load is over.
    const bool small = std::max(batch.size(), std::exchange(size_before, batch.size())) <= synced_here_max;
    const bool handed_over = parts_.syncs != nullptr && !small;
    parts_.backlog.written(batch, handed_over);
    if (handed_over) {
      parts_.syncs->push(std::move(batch));
    } else {
      parts_.store.sync();
      parts_.answers.give(std::move(batch));
    }
  }
}

}  // namespace cairn
