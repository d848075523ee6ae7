#include "engine/snapshot_cache.h"

namespace cairn {

SharedSnapshot SnapshotCache::find(const InstanceId& id) {
  const std::lock_guard lock(mutex_);
  const auto found = by_id_.find(id.value);
  if (found == by_id_.end()) return nullptr;
  order_.splice(order_.begin(), order_, found->second);
  return *found->second;
}

void SnapshotCache::put(SharedSnapshot snapshot) {
  SharedSnapshot gone;  // freed without the lock
  const std::lock_guard lock(mutex_);
  const auto found = by_id_.find(snapshot->instance.value);
  if (found != by_id_.end()) {
    // The answers of two commits may arrive in any order: the newer snapshot stays. Another start means another
    // instance, with the id of a removed one.
    gone = std::move(snapshot);
    const Snapshot& known = **found->second;
    const bool newer = known.started_at == gone->started_at
                           ? known.state_version < gone->state_version
                           : known.started_at < gone->started_at || gone->state_version == 1;
    if (newer) std::swap(*found->second, gone);
    order_.splice(order_.begin(), order_, found->second);
    return;
  }
  if (capacity_ == 0) return;
  by_id_.emplace(snapshot->instance.value, order_.insert(order_.begin(), snapshot));
  if (by_id_.size() > capacity_) {
    gone = std::move(order_.back());
    by_id_.erase(gone->instance.value);
    order_.pop_back();
  }
}

void SnapshotCache::drop(const InstanceId& id) {
  SharedSnapshot gone;
  const std::lock_guard lock(mutex_);
  const auto found = by_id_.find(id.value);
  if (found == by_id_.end()) return;
  gone = std::move(*found->second);
  order_.erase(found->second);
  by_id_.erase(found);
}

void SnapshotCache::clear() {
  Order gone;
  const std::lock_guard lock(mutex_);
  gone.swap(order_);
  by_id_.clear();
}

}  // namespace cairn
