#include "schedule/schedules.h"

#include "base/log.h"
#include "engine/check_input.h"
#include "interpreter/merge_patch.h"
#include "schedule/firing.h"
#include "schedule/next_time.h"

namespace cairn {
namespace {

constexpr std::size_t due_max = 64;
constexpr std::size_t preview_max = 1000;
constexpr int tries_max = 20;  // each retry means that another writer changed the row

Result<ScheduleRow> find(EngineCore& core, const std::string& name) {
  CAIRN_TRY(auto row, core.store().find_schedule(name));
  if (!row) return Error{ErrorCode::not_found, "no schedule " + name};
  return std::move(*row);
}

// Times start from now: earlier ones are handled.
void begin_from(const Schedule& schedule, ScheduleRow& row, Timestamp now) {
  row.last_at = now;
  const auto next = next_time(schedule, now);
  row.next_at = next ? std::optional(with_jitter(schedule, row.name, *next)) : std::nullopt;
}

Result<Schedule> checked(EngineCore& core, const Json& spec, Timestamp now) {
  CAIRN_TRY_VOID(check_incoming(spec, "the schedule", core.context().options.limits));
  CAIRN_TRY(Schedule schedule, read_schedule(spec));
  // Intervals need a start. Whole milliseconds, because every store keeps that precision.
  if (schedule.every && !schedule.from) schedule.from = Timestamp::of_unix_ms(now.unix_ms());
  return schedule;
}

// Reads, changes and writes the row; repeats if another writer changed it in between.
template <class Change>
Result<ScheduleRow> revise(EngineCore& core, const std::string& name, const Change& change) {
  for (int attempt = 0; attempt < tries_max; ++attempt) {
    CAIRN_TRY(ScheduleRow row, find(core, name));
    CAIRN_TRY_VOID(change(row));
    CAIRN_TRY(const PutSchedule put, core.store().put_schedule(row));
    if (put == PutSchedule::done) return find(core, name);
  }
  return Error{ErrorCode::conflict, "schedule " + name + " kept changing; try again"};
}

std::string declared_name(const Program& program, std::size_t index) {
  return program.name + ":" + std::to_string(index);
}

Schedule declared_schedule(const Program& program, std::size_t index) {
  const ScheduleSpec& given = program.schedules[index];
  Schedule schedule;
  schedule.cron = given.cron;
  schedule.every = given.every;
  schedule.zone_name = given.zone;
  schedule.zone = TimeZone::find(given.zone).value_or(TimeZone());
  switch (given.overlap) {
    case ScheduleSpec::Overlap::skip: schedule.overlap = Schedule::Overlap::skip; break;
    case ScheduleSpec::Overlap::queue: schedule.overlap = Schedule::Overlap::queue; break;
    case ScheduleSpec::Overlap::allow: schedule.overlap = Schedule::Overlap::allow; break;
    case ScheduleSpec::Overlap::cancel_other: schedule.overlap = Schedule::Overlap::cancel_other; break;
  }
  schedule.catch_up = given.catch_up;
  schedule.jitter = given.jitter;
  ScheduledStart start;
  start.definition = program.name;
  start.declared = index;
  schedule.what = start;
  return schedule;
}

// Deploying the same schedule again changes nothing: a pause and the times stay.
Result<void> adopt(EngineCore& core, const Program& program, std::size_t index) {
  const std::string name = declared_name(program, index);
  const Timestamp now = core.store().now();
  for (int attempt = 0; attempt < tries_max; ++attempt) {
    Schedule schedule = declared_schedule(program, index);
    CAIRN_TRY(const auto known, core.store().find_schedule(name));
    ScheduleRow row = known.value_or(ScheduleRow());
    row.name = name;
    if (schedule.every) {
      const auto from = known ? parse_timestamp(known->spec.text_or("from", "")) : Result<Timestamp>(now);
      schedule.from = from ? *from : now;
    }
    Json spec = write_schedule(schedule);
    if (known && known->spec == spec) return {};
    row.spec = std::move(spec);
    begin_from(schedule, row, now);
    CAIRN_TRY(const PutSchedule put, core.store().put_schedule(row));
    if (put == PutSchedule::done) return {};
  }
  return Error{ErrorCode::conflict, "schedule " + name + " kept changing; try again"};
}

// Returns whether the row moved.
bool fire(EngineCore& core, ScheduleRow row) {
  const auto schedule = read_schedule(row.spec);
  if (!schedule) {
    log_error("schedule.unreadable", schedule.error(), {{"schedule", row.name}});
    row.next_at.reset();
    row.last = Json::object({{"error", schedule.error().message}});
  } else {
    const Timestamp handled_until = row.last_at.value_or(row.created_at);
    const Due due = due_time(*schedule, row.name, handled_until, core.store().now());
    if (due.fire) {
      if (auto done = fire_at(core, *schedule, row, *due.fire); !done) {
        // The row stays claimed and is fired again when the claim expires.
        log_error("schedule.postponed", done.error(), {{"schedule", row.name}});
        return false;
      }
    }
    row.last_at = due.handled_until;
    row.next_at = due.next;
  }
  const auto put = core.store().put_schedule(row);
  if (!put) log_error("schedule.postponed", put.error(), {{"schedule", row.name}});
  return put.has_value();
}

}  // namespace

Result<void> check_state_version(const ScheduleRow& row, std::optional<std::uint64_t> wanted) {
  if (!wanted || *wanted == row.state_version) return {};
  return Error{ErrorCode::conflict,
               "stale_version: schedule " + row.name + " is at state version " + std::to_string(row.state_version)};
}

Result<ScheduleRow> create_schedule(EngineCore& core, const std::string& name, const Json& spec, bool paused) {
  if (auto wrong = check_schedule_name(name)) return *wrong;
  if (name.find(':') != std::string::npos) {
    return Error{ErrorCode::invalid, "/name: names with `:` are reserved for schedules of definitions"};
  }
  const Timestamp now = core.store().now();
  CAIRN_TRY(const Schedule schedule, checked(core, spec, now));
  if (const auto* start = std::get_if<ScheduledStart>(&schedule.what)) {
    if (start->declared) return Error{ErrorCode::invalid, "/start/declared: is reserved for schedules of definitions"};
    CAIRN_TRY_VOID(core.registry().find(start->definition, start->version));
  }
  ScheduleRow row;
  row.name = name;
  row.spec = write_schedule(schedule);
  row.paused = paused;
  begin_from(schedule, row, now);
  CAIRN_TRY(const PutSchedule put, core.store().put_schedule(row));
  if (put == PutSchedule::stale) return Error{ErrorCode::conflict, "schedule " + name + " already exists"};
  return find(core, name);
}

Result<ScheduleRow> change_schedule(EngineCore& core, const std::string& name, const Json& patch,
                                    std::optional<std::uint64_t> state_version) {
  return revise(core, name, [&](ScheduleRow& row) -> Result<void> {
    CAIRN_TRY_VOID(check_state_version(row, state_version));
    if (name.find(':') != std::string::npos) {
      return Error{
          ErrorCode::conflict,
          "schedule " + name + " belongs to a definition; deploy a new version of that, or pause the schedule"};
    }
    // A new `cron` or `every` replaces the old one of either kind. `from` stays: it says when the first firing may be.
    Json before = row.spec;
    if (!patch["cron"].is_null()) before.erase("every");
    if (!patch["every"].is_null()) before.erase("cron");
    if (!patch["start"].is_null()) before.erase("run");
    if (!patch["run"].is_null()) before.erase("start");
    const Timestamp now = core.store().now();
    CAIRN_TRY(const Schedule schedule, checked(core, merge_patch(before, patch), now));
    row.spec = write_schedule(schedule);
    begin_from(schedule, row, now);
    return {};
  });
}

Result<ScheduleRow> pause_schedule(EngineCore& core, const std::string& name, bool paused,
                                   std::optional<std::uint64_t> state_version) {
  return revise(core, name, [&](ScheduleRow& row) -> Result<void> {
    CAIRN_TRY_VOID(check_state_version(row, state_version));
    if (row.paused && !paused) {
      CAIRN_TRY(const Schedule schedule, read_schedule(row.spec));
      begin_from(schedule, row, core.store().now());
    }
    row.paused = paused;
    return {};
  });
}

Result<ScheduleRow> trigger_schedule(EngineCore& core, const std::string& name, const std::string& key) {
  const Timestamp now = core.store().now();
  CAIRN_TRY(ScheduleRow row, find(core, name));
  CAIRN_TRY(const Schedule schedule, read_schedule(row.spec));
  const std::string id = key.empty() ? firing_id(name, now) : trigger_id(name, key);
  CAIRN_TRY_VOID(launch(core, schedule, row, now, id));
  if (row.last["error"].is_string()) return Error{ErrorCode::conflict, std::string(row.last["error"].as_string())};
  const Json started = row.last;
  return revise(core, name, [&](ScheduleRow& again) -> Result<void> {
    CAIRN_TRY(again.last, beside(core.store(), core.store(), again.last, started));
    return {};
  });
}

Result<std::vector<Timestamp>> preview_schedule(EngineCore& core, const std::string& name, std::size_t count) {
  CAIRN_TRY(const ScheduleRow row, find(core, name));
  CAIRN_TRY(const Schedule schedule, read_schedule(row.spec));
  std::vector<Timestamp> times =
      next_times(schedule, row.last_at.value_or(row.created_at), std::min(count, preview_max));
  for (Timestamp& at : times) at = with_jitter(schedule, name, at);
  return times;
}

Result<void> remove_schedule(EngineCore& core, const std::string& name) {
  CAIRN_TRY(const bool gone, core.store().remove_schedule(name));
  if (!gone) return Error{ErrorCode::not_found, "no schedule " + name};
  return {};
}

Result<void> deploy(EngineCore& core, const std::shared_ptr<const Program>& program) {
  CAIRN_TRY_VOID(core.registry().deploy(program));
  CAIRN_TRY(const auto newest, core.registry().find(program->name, std::nullopt));
  if (newest->version != program->version) return {};
  for (std::size_t i = 0; i < program->schedules.size(); ++i) CAIRN_TRY_VOID(adopt(core, *program, i));
  // Remove schedules that only an older version declared.
  for (std::size_t i = program->schedules.size();; ++i) {
    CAIRN_TRY(const bool gone, core.store().remove_schedule(declared_name(*program, i)));
    if (!gone) return {};
  }
}

std::size_t fire_schedules(EngineCore& core) {
  auto due = core.store().take_schedules(due_max, core.context().options.hold);
  if (!due) {
    log_error("schedules.failed", due.error());
    return 0;
  }
  std::size_t moved = 0;
  for (ScheduleRow& row : *due) moved += fire(core, std::move(row)) ? 1 : 0;
  return moved;
}

bool start_queued(EngineCore& core, const std::string& name) {
  const auto postponed = [&name](const Error& why) {
    log_error("schedule.postponed", why, {{"schedule", name}});
    return false;
  };
  for (int attempt = 0; attempt < tries_max; ++attempt) {
    auto row = core.store().find_schedule(name);
    if (!row) return postponed(row.error());
    if (!*row || (*row)->queued.size() == 0) return true;
    const auto schedule = read_schedule((*row)->spec);
    if (!schedule) return true;
    const auto launched = launch_queued(core, *schedule, **row);
    if (!launched) return postponed(launched.error());
    if (!*launched) return true;
    if (const auto put = core.store().put_schedule(**row); !put) return postponed(put.error());
    // Work that never waits has already ended, so its successor is next.
  }
  return false;
}

bool start_all_queued(EngineCore& core) {
  bool all = true;
  PageRequest page;
  do {
    const auto rows = core.store().list_schedules(page);
    if (!rows) {
      log_error("schedules.failed", rows.error());
      return false;
    }
    for (const ScheduleRow& row : rows->items) {
      if (row.queued.size() > 0) all = start_queued(core, row.name) && all;
    }
    page.cursor = rows->next_cursor;
  } while (!page.cursor.empty());
  return all;
}

void attach_schedules(EngineCore& core) {
  core.listeners().follow_runs({[](const RunRow& run) { return schedule_of(run.idempotency_key).has_value(); },
                                [&core](const RunRow& run) {
                                  const auto schedule = schedule_of(run.idempotency_key);
                                  if (!schedule || start_queued(core, *schedule)) return;
                                  // The loop that starts what is queued behind instances tries again.
                                  Wakeup released;
                                  released.ended = {InstanceId{run.idempotency_key}};
                                  core.listeners().tell(released);
                                }});
}

void run_until_idle(EngineCore& core) {
  do {
    start_all_queued(core);
    core.due().run_until_idle();
  } while (fire_schedules(core) > 0);
}

}  // namespace cairn
