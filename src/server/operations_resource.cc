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

}  // namespace

std::vector<Route> operation_routes(Coordinator& coordinator) {
  Coordinator* const with = &coordinator;
  const auto alive = [](const Call& call) { call.reply({200, "text/plain; charset=utf-8", {}, "ok\n"}); };
  // Ready means that the store answers, not only that the process runs.
  const auto ready = [with](const Call& call) {
    const auto schema = with->store().schema_version();
    call.reply(schema ? Response(200, "text/plain; charset=utf-8", {}, "ready\n") : problem(schema.error()));
  };
  const auto info = [with](const Call& call) {
    call.reply(json_response(Json::object({{"cairn", version_text},
                                           {"node", with->node()},
                                           {"definition_language", definition_language_version},
                                           {"expression_language", expr::language_version},
                                           {"now", format_timestamp(with->store().now())}})));
  };
  return {
      {"GET", "/healthz", Permission::open, "healthz", "The process runs", alive},
      {"GET", "/readyz", Permission::open, "readyz", "The store answers", ready},
      {"GET", "/v1/info", Permission::view, "getInfo", "What this server is", info},
      {"GET", "/v1/functions", Permission::view, "listFunctions", "Functions of the expression language",
       [](const Call& call) { call.reply(json_response(functions())); }},
  };
}

}  // namespace cairn::server
