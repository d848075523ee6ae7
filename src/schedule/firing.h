// One firing of one schedule.
#pragma once

#include "engine/core.h"
#include "schedule/schedule.h"

namespace cairn {

// Starts the instance or run of the firing for `at` with the id `id`. Records in `row.last` what was started, or why
// the start failed. Returns an error if the outcome is unknown; the caller tries again later.
Result<void> launch(EngineCore& core, const Schedule& schedule, ScheduleRow& row, Timestamp at, const std::string& id);
// Starts, queues or skips the firing according to the overlap policy.
Result<void> fire_at(EngineCore& core, const Schedule& schedule, ScheduleRow& row, Timestamp at);
// Returns the new `last` for a manual trigger: `started`, together with everything in `last` that may still run.
Result<Json> beside(InstanceStore& instances, RunStore& runs, const Json& last, Json started);
// Starts the first queued firing if the previous one has ended. Returns whether it did.
Result<bool> launch_queued(EngineCore& core, const Schedule& schedule, ScheduleRow& row);

}  // namespace cairn
