// The last snapshots of busy instances, so that they are not read back. Never trusted: a decision on
// one is only written when the store still has that state version of the same start, and a refusal is decided again on
// what the store has. Safe from several threads.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "instance/snapshot.h"

namespace cairn {

// Read by many and changed by nobody: whoever decides on one makes the next.
using SharedSnapshot = std::shared_ptr<const Snapshot>;

class SnapshotCache {
 public:
  explicit SnapshotCache(std::size_t capacity) : capacity_(capacity) {}

  SharedSnapshot find(const InstanceId& id);  // none: nullptr
  std::optional<Status> status(const InstanceId& id) const;
  void put(SharedSnapshot snapshot);
  void drop(const InstanceId& id);
  void clear();

 private:
  using Order = std::list<SharedSnapshot>;  // the one used last first

  mutable std::mutex mutex_;
  std::size_t capacity_;
  Order order_;
  std::unordered_map<std::string, Order::iterator> by_id_;
};

}  // namespace cairn
