// The last snapshots of busy instances, so that they are not read back. Never trusted: a decision on
// one is only written when the store still has that version, and a refusal is decided again on what
// the store has. Safe from several threads.
#pragma once

#include <list>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "instance/snapshot.h"

namespace cairn {

class SnapshotCache {
 public:
  explicit SnapshotCache(std::size_t capacity) : capacity_(capacity) {}

  std::optional<Snapshot> find(const InstanceId& id);
  // Without a copy of the rest.
  std::optional<Status> status(const InstanceId& id) const;
  void put(const Snapshot& snapshot);
  void drop(const InstanceId& id);

 private:
  using Order = std::list<Snapshot>;  // the one used last first

  mutable std::mutex mutex_;
  std::size_t capacity_;
  Order order_;
  std::unordered_map<std::string, Order::iterator> by_id_;
};

}  // namespace cairn
