#include "engine/snapshot_cache.h"

namespace cairn {

namespace {
std::size_t piece_bytes(const SharedSnapshot& snapshot) {
  return snapshot->pieces.set ? snapshot->pieces.set->bytes : 0;
}
}  // namespace

SharedSnapshot SnapshotCache::find(const InstanceId& id) {
  const std::lock_guard lock(mutex_);
  const auto found = by_id_.find(id.value);
  if (found == by_id_.end()) return nullptr;
  order_.splice(order_.begin(), order_, found->second);
  return *found->second;
}

void SnapshotCache::shrink(std::vector<SharedSnapshot>& gone) {
  while (by_id_.size() > capacity_ || (piece_bytes_ > piece_bytes_max && by_id_.size() > 1)) {
    SharedSnapshot& last = order_.back();
    piece_bytes_ -= piece_bytes(last);
    by_id_.erase(last->instance.value);
    gone.push_back(std::move(last));
    order_.pop_back();
  }
}

void SnapshotCache::put(SharedSnapshot snapshot) {
  std::vector<SharedSnapshot> gone;  // freed without the lock
  SharedSnapshot old;
  const std::lock_guard lock(mutex_);
  const auto found = by_id_.find(snapshot->instance.value);
  if (found != by_id_.end()) {
    // The answers of two commits may arrive in any order: the newer snapshot stays. Another start means another
    // instance, with the id of a removed one.
    SharedSnapshot& known = *found->second;
    const bool newer = known->started_at == snapshot->started_at
                           ? known->state_version < snapshot->state_version
                           : known->started_at < snapshot->started_at || snapshot->state_version == 1;
    if (newer) {
      piece_bytes_ += piece_bytes(snapshot) - piece_bytes(known);
      std::swap(known, snapshot);
    }
    order_.splice(order_.begin(), order_, found->second);
    if (piece_bytes_ > piece_bytes_max) shrink(gone);
    old = std::move(snapshot);
    return;
  }
  if (capacity_ == 0) return;
  piece_bytes_ += piece_bytes(snapshot);
  by_id_.emplace(snapshot->instance.value, order_.insert(order_.begin(), snapshot));
  if (by_id_.size() > capacity_ || piece_bytes_ > piece_bytes_max) shrink(gone);
}

void SnapshotCache::drop(const InstanceId& id) {
  SharedSnapshot gone;
  const std::lock_guard lock(mutex_);
  const auto found = by_id_.find(id.value);
  if (found == by_id_.end()) return;
  gone = std::move(*found->second);
  piece_bytes_ -= piece_bytes(gone);
  order_.erase(found->second);
  by_id_.erase(found);
}

void SnapshotCache::clear() {
  Order gone;
  const std::lock_guard lock(mutex_);
  gone.swap(order_);
  by_id_.clear();
  piece_bytes_ = 0;
}

}  // namespace cairn
