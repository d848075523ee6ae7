// Ends a batch of runs without an instance in one statement, which checks each lease as it ends it. Locking and reading
// first would double the cost. `cairn-bench W5` needs a quarter less CPU of the process with it.
#pragma once

#include <span>
#include <vector>

#include "store/postgres/runs/known_leases.h"
#include "store/postgres/wire/connection.h"
#include "store/store.h"

namespace cairn::postgres {

// Whether each unit only ends such a run.
bool ends_runs_only(std::span<const Unit> units);
std::vector<const RunEnd*> ends_of(std::span<const Unit> units);
// Call it at the start of a transaction that does nothing else. On failure the connection has the error. An end whose
// lease is lost is `stale`. `leases` holds what this process knows of the leases.
std::vector<CommitOutcome> end_standalone_runs(Connection& db, std::span<const RunEnd* const> ends,
                                               const KnownLeases& leases, Timestamp now, bool run_events,
                                               Wakeup& wakeup);

}  // namespace cairn::postgres
