// Schedules on a coordinator: what people ask for, and firing what is due. A firing starts its instance or run with
// an id made of the schedule's name and the time it is meant for, then the row moves on; a crash in between fires
// again and finds what the first one started. Safe from several threads.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/coordinator.h"
#include "schedule/schedule.h"

namespace cairn {

// Errors: invalid (the specification), conflict (the name is taken, the row has moved), not_found.
Result<ScheduleRow> create_schedule(Coordinator& coordinator, const std::string& name, const Json& spec, bool paused);
// A merge patch of the specification. Its times begin anew from now.
Result<ScheduleRow> change_schedule(Coordinator& coordinator, const std::string& name, const Json& merge_patch,
                                    std::optional<std::uint64_t> version);
// A schedule that is resumed goes on from now: what it missed is dropped.
Result<ScheduleRow> pause_schedule(Coordinator& coordinator, const std::string& name, bool paused);
// Starts one now, whatever the overlap policy says; the times to come stay. The row, whose `last` says what it was;
// what still runs stands in `last.beside`, so that the next firing sees it. Under the same `key` only once.
Result<ScheduleRow> trigger_schedule(Coordinator& coordinator, const std::string& name, const std::string& key = {});
Result<std::vector<Timestamp>> preview_schedule(Coordinator& coordinator, const std::string& name, std::size_t count);
// What it started goes on.
Result<void> remove_schedule(Coordinator& coordinator, const std::string& name);

// Stores a definition, and its own schedules as `NAME:0`, `NAME:1`, … when it is now the newest version.
Result<void> deploy(Coordinator& coordinator, const std::shared_ptr<const Program>& program);

// Makes the end of a run that a schedule started start the firing that is queued behind it. Once per coordinator, before
// the first request.
void attach_schedules(Coordinator& coordinator);
// Fires and delivers everything that is due, until nothing is.
void run_until_idle(Coordinator& coordinator);

// One bounded batch of what is due; how many rows moved.
std::size_t fire_schedules(Coordinator& coordinator);
// Starts what waits for the end of the firing before, if that has ended. For one schedule, or for all.
void start_queued(Coordinator& coordinator, const std::string& name);
void start_all_queued(Coordinator& coordinator);

}  // namespace cairn
