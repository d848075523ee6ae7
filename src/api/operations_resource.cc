#include <chrono>

#include "api/api.h"
#include "api/problem.h"
#include "api/telemetry/liveness.h"
#include "base/version.h"
#include "expr/expression.h"
#include "upkeep/retention.h"

namespace cairn::api {
namespace {

Json functions() {
  Json items = Json::array();
  for (const expr::FunctionEntry& entry : expr::function_catalogue()) {
    items.push_back(Json::object({{"name", entry.name},
                                  {"library", entry.library},
                                  {"signature", entry.signature},
                                  {"description", entry.description},
                                  {"example", entry.example},
                                  {"result", entry.example_result}}));
  }
  return Json::object({{"items", items}});
}

// One request removes for this long, and says whether more is left. In a large store it would otherwise take minutes.
constexpr std::chrono::seconds retention_time{10};

// Kinds that the body does not name are kept.
void retire(EngineCore& core, const Call& call) {
  RetentionPolicy policy;
  for (const auto& [name, field] : retention_periods) {
    if (!call.body[name].is_string()) continue;
    const auto age = parse_duration(call.body[name].as_string());
    if (!age || age->negative()) {
      call.reply(problem({ErrorCode::invalid, std::string(name) + " must be an age such as 30d"}));
      return;
    }
    policy.*field = *age;
  }
  if (policy.keeps_everything()) {
    call.reply(problem({ErrorCode::invalid, "name at least one kind to remove and its age: \"completed\": \"30d\""}));
    return;
  }
  const auto until = std::chrono::steady_clock::now() + retention_time;
  const auto report = run_retention(
      core, policy, [&] { return core.context().stops_soon.load() || std::chrono::steady_clock::now() >= until; });
  if (!report) {
    call.reply(problem(report.error()));
    return;
  }
  Json answer = Json::object({{"ran", report->ran}, {"more", report->more}});
  for (const auto& [name, count] : retention_counts) answer.set(name, static_cast<std::int64_t>((*report).*count));
  call.reply(json_response(answer));
}

constexpr std::string_view retention_schema =
    R"({"type":"object","additionalProperties":false,"properties":{
  "completed":{"type":"string","description":"instances that completed longer ago than this: 30d"},
  "failed":{"type":"string"},"cancelled":{"type":"string"},
  "runs":{"type":"string","description":"finished runs without an instance"},
  "deleted_runs":{"type":"string","description":"deleted runs without an instance"},
  "run_events":{"type":"string","description":"events of runs; the runs stay"},
  "dead_letters":{"type":"string","description":"dead letters without an open instance"},
  "outbox":{"type":"string","description":"published events"},
  "keys":{"type":"string","description":"idempotency keys"},
  "audit":{"type":"string","description":"audit rows, which are exported first"},
  "stale_tasks":{"type":"string","description":"open tasks that have not changed for so long end as expired"},
  "stale_instances":{"type":"string","description":"open instances without progress for so long are cancelled"},
  "reason":{"type":"string"}}})";

}  // namespace

std::vector<Route> operation_routes(EngineCore& core) {
  EngineCore* const with = &core;
  const auto alive = [with](const Call& call) { call.reply(liveness(*with)); };
  const auto info = [with](const Call& call) {
    call.reply(json_response(Json::object({{"cairn", version_text},
                                           {"node", with->node()},
                                           {"definition_language", definition_language_version},
                                           {"expression_language", expr::language_version},
                                           {"now", format_timestamp(with->store().now())}})));
  };
  Route health{"GET", "/healthz", Permission::open, "healthz", "The process runs and its commits make progress", alive};
  Route live{"GET", "/livez", Permission::open, "livez", "The process runs and its commits make progress", alive};
  health.immediate = live.immediate = true;
  return {
      std::move(health),
      std::move(live),
      {"GET", "/v1/info", Permission::view, "getInfo", "Information about this server", info},
      {"POST",
       "/v1/retention/run",
       Permission::administer,
       "runRetention",
       "Run retention: remove old instances with their children and old rows, and end stale work",
       [with](const Call& call) { retire(*with, call); },
       {},
       retention_schema},
      {"GET", "/v1/functions", Permission::view, "listFunctions", "Functions of the expression language",
       [](const Call& call) { call.reply(json_response(functions())); }},
  };
}

}  // namespace cairn::api
