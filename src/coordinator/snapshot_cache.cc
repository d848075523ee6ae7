#include "coordinator/snapshot_cache.h"

namespace cairn {

std::optional<Snapshot> SnapshotCache::find(const InstanceId& id) {
  const std::lock_guard lock(mutex_);
  const auto found = by_id_.find(id.value);
  if (found == by_id_.end()) return std::nullopt;
  order_.splice(order_.begin(), order_, found->second);
  return *found->second;
}

std::optional<Status> SnapshotCache::status(const InstanceId& id) const {
  const std::lock_guard lock(mutex_);
  const auto found = by_id_.find(id.value);
  if (found == by_id_.end()) return std::nullopt;
  return found->second->status;
}

void SnapshotCache::put(const Snapshot& snapshot) {
  const std::lock_guard lock(mutex_);
  const auto found = by_id_.find(snapshot.instance.value);
  if (found != by_id_.end()) {
    // Answers of two commits may come in any order: the newer one stays.
    if (found->second->version < snapshot.version) *found->second = snapshot;
    order_.splice(order_.begin(), order_, found->second);
    return;
  }
  if (capacity_ == 0) return;
  order_.push_front(snapshot);
  by_id_[snapshot.instance.value] = order_.begin();
  if (by_id_.size() > capacity_) {
    by_id_.erase(order_.back().instance.value);
    order_.pop_back();
  }
}

void SnapshotCache::drop(const InstanceId& id) {
  const std::lock_guard lock(mutex_);
  const auto found = by_id_.find(id.value);
  if (found == by_id_.end()) return;
  order_.erase(found->second);
  by_id_.erase(found);
}

}  // namespace cairn
