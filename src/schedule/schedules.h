// Manages schedules and fires those that are due. A firing starts its instance or run with an id made of the schedule's
// name and the scheduled time; then the row moves on. After a crash in between, the firing is repeated and finds what
// the first attempt started. All functions are safe to call from several threads.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/core.h"
#include "schedule/schedule.h"

namespace cairn {

// Errors: invalid (the specification), conflict (the name is taken, or the row changed), not_found.
Result<ScheduleRow> create_schedule(EngineCore& core, const std::string& name, const Json& spec, bool paused);
// Applies a merge patch to the specification. Its times restart from now.
Result<ScheduleRow> change_schedule(EngineCore& core, const std::string& name, const Json& merge_patch,
                                    std::optional<std::uint64_t> state_version);
// A resumed schedule continues from now: missed firings are dropped.
Result<ScheduleRow> pause_schedule(EngineCore& core, const std::string& name, bool paused,
                                   std::optional<std::uint64_t> state_version = {});
// ErrorCode::conflict if the row has another state version.
Result<void> check_state_version(const ScheduleRow& row, std::optional<std::uint64_t> wanted);
// Starts one firing now and ignores the overlap policy; later times stay. Returns the row; its `last` says what was
// started. What still runs is listed in `last.beside`, so that the next firing takes it into account. The same `key`
// starts only one.
Result<ScheduleRow> trigger_schedule(EngineCore& core, const std::string& name, const std::string& key = {});
Result<std::vector<Timestamp>> preview_schedule(EngineCore& core, const std::string& name, std::size_t count);
// Instances and runs that it started continue.
Result<void> remove_schedule(EngineCore& core, const std::string& name);

// Stores a definition. If it is the newest version, also stores its declared schedules as `NAME:0`, `NAME:1`, ….
Result<void> deploy(EngineCore& core, const std::shared_ptr<const Program>& program);

// When a run of a schedule ends, start the firing queued behind it. Call this once per engine, before the first
// request.
void attach_schedules(EngineCore& core);
// Fires and delivers until nothing is due.
void run_until_idle(EngineCore& core);

// Fires one bounded batch. Returns how many rows moved.
std::size_t fire_schedules(EngineCore& core);
// Starts the queued firing if the previous one has ended, for one schedule or for all. False: that was not possible
// now, and only another call starts it.
bool start_queued(EngineCore& core, const std::string& name);
bool start_all_queued(EngineCore& core);

}  // namespace cairn
