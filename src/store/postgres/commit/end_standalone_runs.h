// A batch of ends of runs that no instance waits for: one statement that checks each lease where it ends it. Nothing
// has to be locked and read first, which would cost as much again.
#pragma once

#include <span>
#include <vector>

#include "store/postgres/wire/connection.h"
#include "store/postgres/runs/known_leases.h"
#include "store/store.h"

namespace cairn::postgres {

// Whether each unit is such an end and nothing else.
bool ends_runs_only(std::span<const Unit> units);
std::vector<const RunEnd*> ends_of(std::span<const Unit> units);
// At the beginning of a transaction, and alone in it; the connection's error tells when it failed. An end whose lease
// is lost is `stale`. `leases`: what is known of them.
std::vector<CommitOutcome> end_plain_runs(Connection& db, std::span<const RunEnd* const> ends, const KnownLeases& leases,
                                          Timestamp now, bool run_events, Wakeup& wakeup);

}  // namespace cairn::postgres
