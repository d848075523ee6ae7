// The actors outside the nodes: each is one activity that no crash ends.
#pragma once

#include "world.h"

namespace cairn::sim {

// Starts instances, completes and changes tasks and sends signals, with typical user mistakes.
void run_client(World& world, int number);
// Leases runs, records their effects in the ledger and reports.
void run_worker(World& world, int number);
// How a worker handles one leased run. The rates of the plan decide how well it goes.
void execute_run(World& world, const RunRow& run, const std::string& worker);
// Suspends, resumes, retries, skips, edits, cancels, replays, deploys, removes.
void run_operator(World& world, int number);
// An operator's request as an entry of the record.
Json entry_of(const InstanceId& id, const EventBody& what);
// Uses the rest of the store: locks, schedules, credentials, the audit trail.
void run_clerk(World& world, int number);
// In the calm phase: brings every instance to its end, like a patient user. Returns when it is done.
void finish_everything(World& world);

}  // namespace cairn::sim
