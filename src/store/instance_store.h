// Instances: the engine loads a snapshot, decides, and commits a Unit. People read what the commits wrote. Read
// `commit` first, and Unit in unit.h.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "instance/snapshot.h"
#include "store/rows.h"
#include "store/store_base.h"
#include "store/unit.h"

namespace cairn {

struct KeyAnswer {
  std::string request_hash;
  Json answer;
};

class InstanceStore : public virtual StoreBase {
 public:
  // A row that cannot be decoded is ErrorCode::corrupt.
  virtual Result<std::optional<Snapshot>> find_snapshot(const InstanceId& id) = 0;
  // Values of this size are kept apart from their snapshots from now on (StoreTraits::piece_bytes_min). Set it before the
  // first commit.
  virtual void keep_apart(std::size_t piece_bytes_min) = 0;
  // Writes the batch in one transaction and answers for each unit, in order. A stale or refused unit writes nothing and
  // does not affect the others. On an Error, nothing of the batch was written.
  virtual Result<std::vector<CommitOutcome>> commit(std::span<const Unit> units) = 0;
  // The same in two phases, for stores that gain by it (StoreTraits::commits_unsynced). A power failure may lose the
  // result of `commit_unsynced` until `sync` has returned on any thread. No caller may learn of the result before that.
  // The store itself reveals nothing either: what it reads, claims or writes meanwhile is synced before it answers. The
  // exception is a read for a decision (store/unsynced_read.h), which is synced together with its commit. `more` is
  // called for further units of the same transaction until it has none. These units must stay in place until the
  // function returns. Their answers follow those of `units`.
  using MoreUnits = std::function<std::span<const Unit>()>;
  virtual Result<std::vector<CommitOutcome>> commit_unsynced(std::span<const Unit> units, const MoreUnits&) {
    return commit(units);
  }
  virtual void sync() {}
  virtual Result<std::optional<KeyAnswer>> find_key(const std::string& scope, const std::string& key) = 0;
  // Suspends an instance that the engine cannot process and stores a dead letter with it. The snapshot stays unchanged.
  // `message`, if given, is removed in the same transaction.
  virtual Result<void> park(const InstanceId& id, const Failure& why, const DeadLetter& letter,
                            std::optional<std::int64_t> message) = 0;
  // Hides a final instance. False if it does not exist or is not final.
  virtual Result<bool> mark_deleted(const InstanceId& id, const std::string& reason) = 0;

  // Queries for people.
  virtual Result<std::optional<InstanceRow>> find_instance(const InstanceId& id) = 0;
  virtual Result<Page<InstanceRow>> list_instances(const InstanceFilter& filter, const PageRequest& page) = 0;
  virtual Result<Page<HistoryRow>> history(const InstanceId& id, const PageRequest& page) = 0;
  virtual Result<std::vector<Wait>> list_waits(const InstanceId& id) = 0;
};

}  // namespace cairn
