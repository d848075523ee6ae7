// A batch in which every unit only ends a run that no instance waits for: one statement that checks each lease where
// it ends it. Nothing has to be locked and read first, which would cost as much again.
#pragma once

#include <span>
#include <vector>

#include "store/postgres/connection.h"
#include "store/store.h"

namespace cairn::postgres {

bool ends_runs_only(std::span<const Unit> units);
// Inside a transaction; the connection's error tells when it failed.
std::vector<CommitOutcome> end_plain_runs(Connection& db, std::span<const Unit> units, Timestamp now, bool run_events,
                                          Wakeup& wakeup);

}  // namespace cairn::postgres
