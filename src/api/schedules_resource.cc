#include <charconv>

#include "api/access/worker_scope.h"
#include "api/api.h"
#include "api/if_match.h"
#include "api/page_answer.h"
#include "api/problem.h"
#include "schedule/next_time.h"
#include "schedule/schedules.h"

namespace cairn::api {
namespace {

std::string name_of(const Call& call) { return std::string(call.at("name")); }

Json instant(const std::optional<Timestamp>& at) { return at ? Json(format_timestamp(*at)) : Json(); }

Json schedule_document(const ScheduleRow& row) {
  Json document = row.spec.is_object() ? row.spec : Json::object();
  document.set("name", row.name);
  document.set("state_version", static_cast<std::int64_t>(row.state_version));
  document.set("paused", row.paused);
  document.set("next_at", instant(row.next_at));
  document.set("last", row.last);
  document.set("queued", row.queued.is_array() ? row.queued : Json::array());
  document.set("created_at", format_timestamp(row.created_at));
  document.set("changed_at", format_timestamp(row.changed_at));
  return document;
}

void answer(const Call& call, const Result<ScheduleRow>& row, int status = 200) {
  if (!row) return call.reply(problem(row.error()));
  Response response = json_response(schedule_document(*row), status);
  response.headers.emplace_back("etag", "\"" + std::to_string(row->state_version) + "\"");
  call.reply(std::move(response));
}

// The refusal of a schedule that would submit runs of reserved types.
std::optional<Response> refusal(const Json& spec) {
  const Json& run = spec["run"];
  if (!run.is_object() || !is_reserved_type(run.text_or("type", ""))) return std::nullopt;
  return problem(403, "forbidden", "Not allowed", "run types under cairn. are reserved for the engine");
}

void create_schedule(EngineCore& core, const Call& call) {
  if (auto refused = refusal(call.body)) return call.reply(std::move(*refused));
  Json spec = call.body;
  const std::string name(spec.text_or("name", ""));
  const bool paused = spec["paused"].is_bool() && spec["paused"].as_bool();
  spec.erase("name");
  spec.erase("paused");
  answer(call, create_schedule(core, name, spec, paused), 201);
}

void list_schedules(EngineCore& core, const Call& call) {
  const auto fetch = [&](const PageRequest& page) { return core.store().list_schedules(page); };
  call.reply(page_answer(call, fetch, [](const ScheduleRow& row) { return schedule_document(row); }));
}

Result<ScheduleRow> find(EngineCore& core, const Call& call) {
  CAIRN_TRY(auto row, core.store().find_schedule(name_of(call)));
  if (!row) return Error{ErrorCode::not_found, "no schedule " + name_of(call)};
  return std::move(*row);
}

void show_schedule(EngineCore& core, const Call& call) { answer(call, find(core, call)); }

Result<ScheduleRow> at_version(ScheduleRow row, std::uint64_t wanted) {
  if (auto same = check_state_version(row, wanted); !same) return same.error();
  return row;
}

void change(EngineCore& core, const Call& call) {
  if (auto refused = refusal(call.body)) return call.reply(std::move(*refused));
  const auto state_version = state_version_of(call);
  if (!state_version) return call.reply(problem(state_version.error()));
  Json patch = call.body;
  const Json paused = patch["paused"];
  patch.erase("paused");
  // A change checks the version and makes a new one.
  const bool changes = patch.size() > 0;
  auto row = changes ? change_schedule(core, name_of(call), patch, *state_version) : find(core, call);
  const auto wanted = changes ? std::optional<std::uint64_t>() : *state_version;
  if (row && wanted) row = at_version(std::move(*row), *wanted);
  if (row && paused.is_bool() && paused.as_bool() != row->paused) {
    row = pause_schedule(core, name_of(call), paused.as_bool(), wanted);
  }
  answer(call, row);
}

void remove_schedule(EngineCore& core, const Call& call) {
  const auto done = remove_schedule(core, name_of(call));
  call.reply(done ? Response(204, "application/json", {}, "") : problem(done.error()));
}

void pause(EngineCore& core, const Call& call) { answer(call, pause_schedule(core, name_of(call), true)); }
void resume(EngineCore& core, const Call& call) { answer(call, pause_schedule(core, name_of(call), false)); }
void trigger(EngineCore& core, const Call& call) {
  answer(call, trigger_schedule(core, name_of(call), call.repeat_key), 202);
}

std::size_t count_of(const Call& call) {
  const std::string_view text = call.request.query_value("count");
  std::size_t count = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), count);
  return read.ec == std::errc() && count > 0 ? count : 5;
}

void answer_times(const Call& call, const std::vector<Timestamp>& times) {
  Json items = Json::array();
  for (const Timestamp at : times) items.push_back(format_timestamp(at));
  call.reply(json_response(Json::object({{"items", items}})));
}

void preview(EngineCore& core, const Call& call) {
  const auto times = preview_schedule(core, name_of(call), count_of(call));
  if (!times) return call.reply(problem(times.error()));
  answer_times(call, *times);
}

constexpr std::string_view create_schedule_schema =
    R"({"type":"object","required":["name"],"additionalProperties":false,"properties":{
  "name":{"type":"string","minLength":1,"maxLength":150},"paused":{"type":"boolean"},
  "cron":{"type":"string"},"every":{"type":"string"},"zone":{"type":"string"},
  "from":{"type":["string","null"]},"until":{"type":["string","null"]},
  "overlap":{"enum":["skip","queue","allow","cancel_other"]},"catch_up":{"type":"string"},"jitter":{"type":"string"},
  "start":{"type":"object","required":["definition"],"additionalProperties":false,"properties":{
    "definition":{"type":"string"},"version":{"type":"string"},"input":true,
    "reference":{"type":"object","additionalProperties":false,"properties":{"key":{"type":"string"},"parts":{"type":"object"}}}}},
  "run":{"type":"object","required":["type"],"additionalProperties":false,"properties":{
    "type":{"type":"string"},"payload":true,"priority":{"type":"integer"},"max_attempts":{"type":"integer","minimum":1}}}}})";
constexpr std::string_view change_schema =
    R"({"type":"object","additionalProperties":false,"properties":{
  "paused":{"type":"boolean"},"cron":{"type":"string"},"every":{"type":"string"},"zone":{"type":"string"},
  "from":{"type":["string","null"]},"until":{"type":["string","null"]},
  "overlap":{"enum":["skip","queue","allow","cancel_other"]},"catch_up":{"type":"string"},"jitter":{"type":"string"},
  "start":{"type":"object"},"run":{"type":"object"}}})";

}  // namespace

std::vector<Route> schedule_routes(EngineCore& core) {
  const auto with = [&core](void (*handle)(EngineCore&, const Call&)) {
    return [&core, handle](const Call& call) { handle(core, call); };
  };
  return {
      {"POST",
       "/v1/schedules",
       Permission::operate,
       "createSchedule",
       "Create a schedule that starts instances or runs by cron or interval",
       with(create_schedule),
       {},
       create_schedule_schema},
      {"GET",
       "/v1/schedules",
       Permission::view,
       "listSchedules",
       "List schedules by name",
       with(list_schedules),
       {{"limit", "maximum number of items"}, {"cursor", "next_cursor of the previous page"}}},
      {"GET", "/v1/schedules/{name}", Permission::view, "getSchedule", "One schedule", with(show_schedule)},
      {"PATCH",
       "/v1/schedules/{name}",
       Permission::operate,
       "changeSchedule",
       "Change a schedule by a merge patch; its times restart from now",
       with(change),
       {},
       change_schema},
      {"DELETE", "/v1/schedules/{name}", Permission::operate, "deleteSchedule",
       "Remove a schedule; what it started continues", with(remove_schedule)},
      {"POST", "/v1/schedules/{name}/trigger", Permission::operate, "triggerSchedule", "Fire a schedule now",
       with(trigger)},
      {"POST", "/v1/schedules/{name}/pause", Permission::operate, "pauseSchedule",
       "Pause a schedule until it is resumed", with(pause)},
      {"POST", "/v1/schedules/{name}/resume", Permission::operate, "resumeSchedule",
       "Resume a schedule from now; missed firings are dropped", with(resume)},
      {"GET",
       "/v1/schedules/{name}/preview",
       Permission::view,
       "previewSchedule",
       "The next firing times of a schedule",
       with(preview),
       {{"count", "how many (default 5, at most 1000)"}}},
  };
}

}  // namespace cairn::api
