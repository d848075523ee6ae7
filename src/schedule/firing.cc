#include "schedule/firing.h"

#include "base/log.h"

namespace cairn {
namespace {

constexpr std::size_t queued_max = 1000;

// Whether this instance or run has not ended.
Result<bool> one_runs(InstanceStore& instances, RunStore& runs, const Json& last) {
  if (last["instance"].is_string()) {
    CAIRN_TRY(const auto row, instances.find_instance({std::string(last["instance"].as_string())}));
    return row && !is_final(row->status);
  }
  if (last["run"].is_string()) {
    CAIRN_TRY(const auto row, runs.find_run({std::string(last["run"].as_string())}));
    return row && !is_final(row->status) && !row->deleted_at;
  }
  return false;
}

// `last` and everything triggered in addition to it.
std::vector<Json> all_of(const Json& last) {
  std::vector<Json> all = {last};
  if (const Json& others = last["beside"]; others.is_array()) {
    all.insert(all.end(), others.items().begin(), others.items().end());
  }
  return all;
}

// Whether anything that the last firing or a trigger started has not ended.
Result<bool> still_runs(InstanceStore& instances, RunStore& runs, const Json& last) {
  for (const Json& one : all_of(last)) {
    CAIRN_TRY(const bool running, one_runs(instances, runs, one));
    if (running) return true;
  }
  return false;
}

Result<void> cancel_one(EngineCore& core, const Json& last, const std::string& by) {
  const Actor actor{"schedule " + by, std::nullopt};
  const auto over = [](const Error& error) {
    return error.code == ErrorCode::conflict || error.code == ErrorCode::not_found;  // it has ended meanwhile
  };
  if (last["instance"].is_string()) {
    const auto done = core.instances().request({std::string(last["instance"].as_string())},
                                               CancelRequested{"the next firing of its schedule is due"}, actor);
    if (!done && !over(done.error())) return done.error();
  } else if (last["run"].is_string()) {
    const auto done = core.runs().cancel({std::string(last["run"].as_string())}, actor);
    if (!done && !over(done.error())) return done.error();
  }
  return {};
}

Result<void> cancel(EngineCore& core, const Json& last, const std::string& by) {
  for (const Json& one : all_of(last)) CAIRN_TRY_VOID(cancel_one(core, one, by));
  return {};
}

// `now` in the expressions is the scheduled time of the firing, so that a retry requests the same.
Result<Json> input_of(EngineCore& core, const ScheduledStart& start, Timestamp at) {
  if (!start.declared) return start.input;
  CAIRN_TRY(const auto program, core.registry().find(start.definition, start.version));
  if (*start.declared >= program->schedules.size()) {
    return Error{ErrorCode::not_found,
                 "version " + program->version + " of " + program->name + " no longer has this schedule"};
  }
  std::vector<expr::Value> values(program->slots());
  values[slot_config] = expr::Value::borrow(core.context().options.config);
  values[slot_now] = expr::Value::timestamp(at);
  auto input = program->schedules[*start.declared].input.evaluate(values);
  if (!input) return Error{ErrorCode::invalid, "the input of the schedule: " + input.error().message};
  return std::move(*input);
}

Result<std::string> start_instance(EngineCore& core, const ScheduledStart& start, const std::string& id,
                                   const std::string& schedule, Timestamp at) {
  StartRequest request;
  request.definition = start.definition;
  request.version = start.version;
  CAIRN_TRY(request.input, input_of(core, start, at));
  if (start.reference.is_object()) request.reference = Reference{start.reference["key"], start.reference["parts"]};
  request.id = id;
  request.idempotency_key = id;
  request.actor = {"schedule " + schedule, std::nullopt};
  auto started = core.instances().start(request);
  if (started) return started->instance.value;
  // The id of a firing is unique: an existing instance with it was started by an earlier attempt.
  if (started.error().code == ErrorCode::conflict) return id;
  return started.error();
}

Result<std::string> make_run(EngineCore& core, const ScheduledRun& run, const std::string& id) {
  RunRequest request;
  request.type = run.type;
  request.payload = run.payload;
  request.priority = run.priority;
  request.attempts_max = run.attempts_max;
  request.idempotency_key = id;
  CAIRN_TRY(const SubmittedRun made, core.runs().submit(request));
  return made.first.id.value;
}

bool is_transient(const Error& error) {
  switch (error.code) {
    case ErrorCode::unavailable:
    case ErrorCode::internal:
    case ErrorCode::corrupt: return true;
    case ErrorCode::invalid:
    case ErrorCode::not_found:
    case ErrorCode::conflict:
    case ErrorCode::not_allowed:
    case ErrorCode::limit:
    case ErrorCode::unsupported: break;
  }
  return false;
}

}  // namespace

Result<void> launch(EngineCore& core, const Schedule& schedule, ScheduleRow& row, Timestamp at, const std::string& id) {
  const auto* const start = std::get_if<ScheduledStart>(&schedule.what);
  auto started = start != nullptr ? start_instance(core, *start, id, row.name, at)
                                  : make_run(core, std::get<ScheduledRun>(schedule.what), id);
  if (!started) {
    if (is_transient(started.error())) return started.error();
    log_error("schedule.failed", started.error(), {{"schedule", row.name}, {"at", format_timestamp(at)}});
    row.last = Json::object({{"at", format_timestamp(at)}, {"error", started.error().message}});
    return {};
  }
  row.last = Json::object({{"at", format_timestamp(at)}, {start != nullptr ? "instance" : "run", *started}});
  return {};
}

Result<Json> beside(InstanceStore& instances, RunStore& runs, const Json& last, Json started) {
  constexpr std::size_t beside_max = 100;
  Json others = Json::array();
  for (Json one : all_of(last)) {
    if (!one.is_object() || others.size() >= beside_max) continue;
    one.erase("beside");
    if (one == started) continue;
    CAIRN_TRY(const bool running, one_runs(instances, runs, one));
    if (running) others.push_back(std::move(one));
  }
  started.erase("beside");
  if (others.size() > 0) started.set("beside", std::move(others));
  return started;
}

Result<void> fire_at(EngineCore& core, const Schedule& schedule, ScheduleRow& row, Timestamp at) {
  if (schedule.overlap != Schedule::Overlap::allow) {
    CAIRN_TRY(const bool launched, launch_queued(core, schedule, row));
    CAIRN_TRY(const bool busy, launched ? Result<bool>(true) : still_runs(core.store(), core.store(), row.last));
    if (busy || row.queued.size() > 0) {
      switch (schedule.overlap) {
        case Schedule::Overlap::queue:
          if (row.queued.size() < queued_max) {
            row.queued.push_back(format_timestamp(at));
          } else {
            log_warning("schedule.queue_full", {{"schedule", row.name}, {"at", format_timestamp(at)}});
          }
          return {};
        case Schedule::Overlap::skip:
          log_info("schedule.skipped", {{"schedule", row.name}, {"at", format_timestamp(at)}});
          return {};
        case Schedule::Overlap::cancel_other:
          CAIRN_TRY_VOID(cancel(core, row.last, row.name));
          row.queued = Json();
          break;
        case Schedule::Overlap::allow: break;
      }
    }
  }
  return launch(core, schedule, row, at, firing_id(row.name, at));
}

Result<bool> launch_queued(EngineCore& core, const Schedule& schedule, ScheduleRow& row) {
  if (row.queued.size() == 0) return false;
  CAIRN_TRY(const bool busy, still_runs(core.store(), core.store(), row.last));
  if (busy) return false;
  const Json first = row.queued.items().front();
  row.queued.edit_items().erase(row.queued.edit_items().begin());
  if (row.queued.size() == 0) row.queued = Json();
  const auto at = first.is_string() ? parse_timestamp(first.as_string())
                                    : Result<Timestamp>(Error{ErrorCode::corrupt, "a queued firing has no time"});
  if (!at) {
    log_error("schedule.failed", at.error(), {{"schedule", row.name}});
    return true;  // dropped: it can never be read
  }
  CAIRN_TRY_VOID(launch(core, schedule, row, *at, firing_id(row.name, *at)));
  return true;
}

}  // namespace cairn
