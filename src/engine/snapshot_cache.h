// The last snapshots of busy instances, which saves reading them. The cache is never trusted: the store writes a
// decision only if it still has the same state version of the same start, and a refusal is decided again on a fresh
// read. Safe from several threads.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "instance/snapshot.h"

namespace cairn {

// Shared by many readers and never modified. A decision makes a new snapshot.
using SharedSnapshot = std::shared_ptr<const Snapshot>;

class SnapshotCache {
 public:
  // Large values of cached snapshots (instance/pieces.h) take no more memory than this, except those of the last one.
  static constexpr std::size_t piece_bytes_max = 64u << 20;

  explicit SnapshotCache(std::size_t capacity) : capacity_(capacity) {}

  SharedSnapshot find(const InstanceId& id);  // nullptr: unknown
  void put(SharedSnapshot snapshot);
  void drop(const InstanceId& id);
  void clear();

 private:
  using Order = std::list<SharedSnapshot>;  // most recently used first

  // Moves what no longer fits to `gone`. The caller holds the mutex.
  void shrink(std::vector<SharedSnapshot>& gone);

  mutable std::mutex mutex_;
  std::size_t capacity_;
  std::size_t piece_bytes_ = 0;  // a piece that several snapshots share counts for each
  Order order_;
  std::unordered_map<std::string, Order::iterator> by_id_;
};

}  // namespace cairn
