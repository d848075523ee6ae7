// The last snapshots of busy instances, which saves reading them. The cache is never trusted: the store writes a
// decision only if it still has the same state version of the same start, and a refusal is decided again on a fresh
// read. Safe from several threads.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "instance/snapshot.h"

namespace cairn {

// Shared by many readers and never modified. A decision makes a new snapshot.
using SharedSnapshot = std::shared_ptr<const Snapshot>;

class SnapshotCache {
 public:
  explicit SnapshotCache(std::size_t capacity) : capacity_(capacity) {}

  SharedSnapshot find(const InstanceId& id);  // nullptr: unknown
  void put(SharedSnapshot snapshot);
  void drop(const InstanceId& id);
  void clear();

 private:
  using Order = std::list<SharedSnapshot>;  // most recently used first

  mutable std::mutex mutex_;
  std::size_t capacity_;
  Order order_;
  std::unordered_map<std::string, Order::iterator> by_id_;
};

}  // namespace cairn
