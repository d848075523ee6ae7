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

// Runs until nothing is old enough. Kinds that the body does not name are kept.
void retire(EngineCore& core, const Call& call) {
  RetentionPolicy policy;
  for (const auto& [name, field] : {std::pair{"completed", &policy.completed}, std::pair{"failed", &policy.failed},
                                    std::pair{"cancelled", &policy.cancelled}, std::pair{"runs", &policy.runs},
                                    std::pair{"outbox", &policy.outbox}, std::pair{"keys", &policy.keys}}) {
    if (!call.body[name].is_string()) continue;
    const auto age = parse_duration(call.body[name].as_string());
    if (!age || age->negative()) {
      call.reply(problem({ErrorCode::invalid, std::string(name) + " must be an age such as 30d"}));
      return;
    }
    *field = *age;
  }
  if (policy.keeps_everything()) {
    call.reply(problem({ErrorCode::invalid, "name at least one kind to remove and its age: \"completed\": \"30d\""}));
    return;
  }
  const auto report =
      run_retention(core.store(), core.node(), policy, [&core] { return core.context().stops_soon.load(); });
  if (!report) {
    call.reply(problem(report.error()));
    return;
  }
  call.reply(json_response(Json::object({{"ran", report->ran},
                                         {"instances", static_cast<std::int64_t>(report->instances)},
                                         {"runs", static_cast<std::int64_t>(report->runs)},
                                         {"outbox", static_cast<std::int64_t>(report->outbox)},
                                         {"keys", static_cast<std::int64_t>(report->keys)}})));
}

constexpr std::string_view retention_schema =
    R"({"type":"object","additionalProperties":false,"properties":{
  "completed":{"type":"string","description":"instances that completed longer ago than this: 30d"},
  "failed":{"type":"string"},"cancelled":{"type":"string"},
  "runs":{"type":"string","description":"finished runs without an instance"},
  "outbox":{"type":"string","description":"published events"},
  "keys":{"type":"string","description":"idempotency keys"},
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
       "Run retention: remove old instances with their children, runs, events and keys",
       [with](const Call& call) { retire(*with, call); },
       {},
       retention_schema},
      {"GET", "/v1/functions", Permission::view, "listFunctions", "Functions of the expression language",
       [](const Call& call) { call.reply(json_response(functions())); }},
  };
}

}  // namespace cairn::api
