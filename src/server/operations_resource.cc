#include "base/version.h"
#include "expr/expression.h"
#include "server/api.h"
#include "server/problem.h"

namespace cairn::server {
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

// One batch, so that a request stays short; `more` says that there are others.
void retire(Coordinator& coordinator, const Call& call) {
  const auto age = parse_duration(call.body["older_than"].as_string());
  if (!age) {
    call.reply(problem(age.error()));
    return;
  }
  RetentionRequest request;
  request.ended_before = Timestamp::of_unix_ms(coordinator.store().now().unix_ms() - age->ms_up());
  if (call.body["max"].is_integer()) request.max = static_cast<std::size_t>(call.body["max"].as_integer());
  request.statuses = {Status::completed, Status::cancelled, Status::failed};
  if (const Json* statuses = call.body.find("statuses")) {
    request.statuses.clear();
    for (const Json& one : statuses->items()) {
      if (const auto status = status_from(one.as_string())) request.statuses.push_back(*status);
    }
  }
  const auto outcome = coordinator.store().retire_instances(request);
  if (!outcome) {
    call.reply(problem(outcome.error()));
    return;
  }
  call.reply(json_response(
      Json::object({{"instances", static_cast<std::int64_t>(outcome->instances)}, {"more", outcome->more}})));
}

constexpr std::string_view retention_schema =
    R"({"type":"object","required":["older_than"],"additionalProperties":false,"properties":{
  "older_than":{"type":"string","description":"since they ended: 30d"},
  "statuses":{"type":"array","items":{"enum":["completed","failed","cancelled"]}},
  "max":{"type":"integer","minimum":1,"maximum":10000,"description":"roots in this batch"},
  "reason":{"type":"string"}}})";

}  // namespace

std::vector<Route> operation_routes(Coordinator& coordinator) {
  Coordinator* const with = &coordinator;
  const auto alive = [](const Call& call) { call.reply({200, "text/plain; charset=utf-8", {}, "ok\n"}); };
  const auto info = [with](const Call& call) {
    call.reply(json_response(Json::object({{"cairn", version_text},
                                           {"node", with->node()},
                                           {"definition_language", definition_language_version},
                                           {"expression_language", expr::language_version},
                                           {"now", format_timestamp(with->store().now())}})));
  };
  return {
      {"GET", "/healthz", Permission::open, "healthz", "The process runs", alive},
      {"GET", "/livez", Permission::open, "livez", "The process runs", alive},
      {"GET", "/v1/info", Permission::view, "getInfo", "What this server is", info},
      {"POST",
       "/v1/retention/run",
       Permission::administer,
       "runRetention",
       "Remove instances that ended long ago, whole trees, with everything of theirs",
       [with](const Call& call) { retire(*with, call); },
       {},
       retention_schema},
      {"GET", "/v1/functions", Permission::view, "listFunctions", "Functions of the expression language",
       [](const Call& call) { call.reply(json_response(functions())); }},
  };
}

}  // namespace cairn::server
