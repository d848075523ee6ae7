// Rows as JSON documents, the same over HTTP and on the command line.
#pragma once

#include <span>
#include <string>

#include "base/json.h"
#include "engine/core.h"
#include "store/rows.h"

namespace cairn::api {

Json document(const DefinitionRow& row);  // without the canonical form
Json document(const InstanceRow& row);
Json document(const InstanceAnswer& answer);
Json document(const TaskRow& row);
Json document(const TaskEvent& event);
Json document(const SignalOutcome& outcome);
Json document(const KeptSignal& signal);
Json document(const BufferedSignal& signal);
Json document(const Wait& wait);
Json document(const HistoryRow& row);
Json document(const RunRow& row);
// Which step of an instance is retried: run, step, attempt, max_attempts, code, last_error, failed_at, next_at.
Json retry_document(const RunRow& row);
// Adds `retrying` if the instance waits for a run that is retried.
void add_retrying(RunStore& runs, const Snapshot& snapshot, Json& instance);
// The answer to a lease: {"items": […]}, each run with the length of its lease and its trace.
std::string leased_document(std::span<const RunRow> runs, Timestamp now);
Json document(const RunEvent& event);
Json document(const RunTypeRow& row);
// The snapshot that the engine resumes from.
Json document(const Snapshot& snapshot);
// With input, state, waits and, if completed, the output.
Json document(const InstanceRow& row, const Snapshot& snapshot);

}  // namespace cairn::api
