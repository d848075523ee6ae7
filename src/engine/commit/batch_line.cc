#include "engine/commit/batch_line.h"

namespace cairn {

void BatchLine::push(CommitBatch batch) {
  std::unique_lock lock(mutex_);
  has_room_.wait(lock, [this] { return batches_.size() < length_max; });
  batches_.push_back(std::move(batch));
  filled_.notify_one();
}

std::optional<CommitBatch> BatchLine::pop() {
  std::unique_lock lock(mutex_);
  filled_.wait(lock, [this] { return closed_ || !batches_.empty(); });
  if (batches_.empty()) return std::nullopt;
  CommitBatch batch = std::move(batches_.front());
  batches_.pop_front();
  has_room_.notify_one();
  return batch;
}

void BatchLine::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  filled_.notify_all();
}

}  // namespace cairn
