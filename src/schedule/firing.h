// One firing of one schedule.
#pragma once

#include "engine/coordinator.h"
#include "schedule/schedule.h"

namespace cairn {

// Starts the instance or run of the firing for `at`, called `id`, and notes in `row.last` what it was, or why it could
// not be. An error: nobody can tell now, try again later.
Result<void> launch(Coordinator& coordinator, const Schedule& schedule, ScheduleRow& row, Timestamp at,
                    const std::string& id);
// Launches, queues or skips it, as the overlap policy says.
Result<void> fire_at(Coordinator& coordinator, const Schedule& schedule, ScheduleRow& row, Timestamp at);
// `started` by hand while `last`, or what stands beside it, may still run: the new `last`, with all that does.
Result<Json> beside(Store& store, const Json& last, Json started);
// Launches the first that is queued when the one before has ended. Whether it did.
Result<bool> launch_queued(Coordinator& coordinator, const Schedule& schedule, ScheduleRow& row);

}  // namespace cairn
