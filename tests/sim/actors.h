// Everybody outside: each is one activity that no crash ends.
#pragma once

#include "world.h"

namespace cairn::sim {

// Starts instances, completes and changes tasks, sends signals, with all that people do wrong.
void run_client(World& world, int number);
// Leases runs, makes their effects in the ledger, reports.
void run_worker(World& world, int number);
// What one worker does with one leased run. `types` of the plan decide how well it goes.
void execute_run(World& world, const RunRow& run, const std::string& worker);
// Suspends, resumes, retries, skips, edits, cancels, replays, deploys, removes.
void run_operator(World& world, int number);
// A request of theirs as the record has it.
Json entry_of(const InstanceId& id, const EventBody& what);
// Uses what is left of the store: locks, schedules, credentials, the audit trail.
void run_clerk(World& world, int number);
// In the calm: brings every instance to its end, as a patient person would. Ends when it is done.
void finish_everything(World& world);

}  // namespace cairn::sim
