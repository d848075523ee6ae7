// Runs: submitted, leased, extended and ended. A Unit ends the runs of instances (instance_store.h).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "store/rows.h"
#include "store/store_base.h"
#include "store/unit.h"

namespace cairn {

// Leases runs that are pending, or whose lease has expired and that still have an attempt.
struct LeaseRequest {
  std::string worker;                 // with a random part per process
  std::vector<std::string> prefixes;  // if both lists are empty: "default."
  std::vector<std::string> types;     // exact types, in addition
  std::size_t max = 1;
  Duration length;
  // The answer ends with the run that reaches this (`lease_bytes`). A store may answer more: the caller releases it.
  std::size_t bytes_max = std::numeric_limits<std::size_t>::max();
};

// A change that the holder of a lease makes. Every kind except `cancel` and `remove` must match the fence.
struct RunChange {
  enum class Kind { heartbeat, retry, release, cancel, remove };
  Kind kind = Kind::heartbeat;
  RunId run;
  std::uint64_t fence = 0;
  Duration length;  // heartbeat: the new length of the lease from now; retry: the delay
  Json error;       // retry: the failure
  std::string actor;
  std::string reason;        // remove
  std::string account = {};  // heartbeat, release: must hold the lease (store/lease_holder.h); empty: not checked
  // Stored in the transaction of the change, if it is done. The caller of a refused change asks `find_key` whether it
  // is a repeat.
  std::optional<IdempotencyKey> key = {};
};
struct RunChanged {
  enum class Kind {
    done,
    not_found,
    lease_lost,
    finished,
    exhausted,   // no attempt left to retry
    awaited,     // not removed, because its instance waits for its end
    not_holder,  // the fence matches, but another account holds the lease
  };
  Kind kind = Kind::done;
  RunRow row;  // the current row, unless not_found
};

class RunStore : public virtual StoreBase {
 public:
  // A Unit ends runs. Some stores have a faster way for runs without an instance (StoreTraits::ends_runs_directly):
  // `end_runs` writes them in one transaction and answers like one unit for each.
  virtual Result<std::vector<CommitOutcome>> end_runs(std::span<const RunEnd>) {
    return Error{ErrorCode::internal, "this store ends runs in units"};
  }
  // Answers the row and whether it is new. A known idempotency key answers the first row. Reads id, type, payload,
  // priority, run_at, attempts_max, the retry policy and the key.
  virtual Result<std::pair<RunRow, bool>> submit_run(const RunRow& run) = 0;
  virtual Result<std::vector<RunRow>> lease_runs(const LeaseRequest& request) = 0;
  virtual Result<RunChanged> change_run(const RunChange& change) = 0;
  // Applies several heartbeats or releases and answers each separately; the rows may lack payload, result and error.
  // Stores that wait for a disk use one transaction; this default applies them one by one. A heartbeat of a run that
  // another transaction has locked answers ErrorCode::unavailable at once, so it does not delay the others.
  virtual std::vector<Result<RunChanged>> change_runs(std::span<const RunChange> changes) {
    std::vector<Result<RunChanged>> answers;
    for (const RunChange& change : changes) answers.push_back(change_run(change));
    return answers;
  }
  // Leased runs that cannot be leased again: their lease has expired and no attempt is left, or the current attempt has
  // exceeded its timeout, whatever its worker reports. The caller ends them by a Unit or retries them.
  virtual Result<std::vector<RunRow>> exhausted_runs(std::size_t max) = 0;
  virtual Result<std::optional<RunRow>> find_run(const RunId& id) = 0;
  virtual Result<Page<RunRow>> list_runs(const RunFilter& filter, const PageRequest& page) = 0;
  // The events of a run, oldest first. Each attempt adds some, so programs read pages. A row of the table with two
  // events counts as one row of the page.
  virtual Result<Page<RunEvent>> list_run_events(const RunId& id, const PageRequest& page) = 0;
  // All of them.
  Result<std::vector<RunEvent>> run_events(const RunId& id) {
    return all_pages<RunEvent>([&](const PageRequest& page) { return list_run_events(id, page); });
  }

  // Submits all runs in one transaction. Each becomes the stored row, as `submit_run` answers it; true: it is new.
  // After an error they are unchanged.
  virtual Result<std::vector<bool>> submit_runs(std::span<RunRow> runs) = 0;
};

}  // namespace cairn
