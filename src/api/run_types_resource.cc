#include "api/api.h"
#include "api/body_members.h"
#include "api/documents.h"
#include "api/problem.h"
#include "base/json_integer.h"

namespace cairn::api {
namespace {

Result<std::optional<Duration>> positive_duration_of(const Json& body, const std::string& name) {
  CAIRN_TRY(const auto length, duration_of(body, name));
  if (length && length->zero()) return wrong_member("/" + name, {ErrorCode::invalid, "must be greater than zero"});
  return length;
}

Result<std::optional<int>> count_of(const Json& body, std::string_view name) {
  CAIRN_TRY(const auto count, integer_of(body, name));
  return count ? std::optional(static_cast<int>(*count)) : std::nullopt;
}

Result<RunTypeRow> row_of(const Call& call) {
  RunTypeRow row;
  const Json& body = call.body;
  row.type = std::string(call.at("type"));
  row.paused = body["paused"].is_bool() && body["paused"].as_bool();
  CAIRN_TRY(row.lease, positive_duration_of(body, "lease"));
  CAIRN_TRY(row.backoff, positive_duration_of(body, "backoff"));
  CAIRN_TRY(row.cap, positive_duration_of(body, "cap"));
  CAIRN_TRY(const auto window, positive_duration_of(body, "rate_window"));
  if (window) row.rate_window = *window;
  CAIRN_TRY(row.attempts_max, count_of(body, "max_attempts"));
  CAIRN_TRY(row.concurrency, count_of(body, "concurrency"));
  CAIRN_TRY(row.rate, count_of(body, "rate"));
  row.limit_key = std::string(body.text_or("limit_key", ""));
  return row;
}

void put(EngineCore& core, const Call& call) {
  const auto row = row_of(call);
  if (!row) return call.reply(problem(row.error()));
  const auto done = core.leasing().types().put(*row);
  call.reply(done ? json_response(document(*row)) : problem(done.error()));
}

void list_run_types(EngineCore& core, const Call& call) {
  const auto rows = core.store().list_run_types();
  if (!rows) return call.reply(problem(rows.error()));
  Json items = Json::array();
  for (const RunTypeRow& row : *rows) items.push_back(document(row));
  call.reply(json_response(Json::object({{"items", items}, {"next_cursor", nullptr}})));
}

Response no_such_run_type(const Call& call) {
  return problem({ErrorCode::not_found, "no settings for runs of type " + std::string(call.at("type"))});
}

void show_run_type(EngineCore& core, const Call& call) {
  const auto rows = core.store().list_run_types();
  if (!rows) return call.reply(problem(rows.error()));
  for (const RunTypeRow& row : *rows) {
    if (row.type == call.at("type")) return call.reply(json_response(document(row)));
  }
  call.reply(no_such_run_type(call));
}

void remove_run_type(EngineCore& core, const Call& call) {
  const auto removed = core.leasing().types().remove(std::string(call.at("type")));
  if (!removed) return call.reply(problem(removed.error()));
  call.reply(*removed ? Response(204, "application/json", {}, "") : no_such_run_type(call));
}

constexpr std::string_view type_schema =
    R"({"type":"object","additionalProperties":false,"properties":{
  "paused":{"type":"boolean"},"lease":{"type":"string"},"max_attempts":{"type":"integer","minimum":1,"maximum":1000000},
  "backoff":{"type":"string"},"cap":{"type":"string"},"concurrency":{"type":"integer","minimum":1,"maximum":1000000},
  "rate":{"type":"integer","minimum":1,"maximum":1000000},"rate_window":{"type":"string"},"limit_key":{"type":"string"}}})";

}  // namespace

std::vector<Route> run_type_routes(EngineCore& core) {
  const auto with = [&core](void (*handle)(EngineCore&, const Call&)) {
    return [&core, handle](const Call& call) { handle(core, call); };
  };
  return {
      {"GET", "/v1/run-types", Permission::view, "listRunTypes", "List the settings of run types",
       with(list_run_types)},
      {"GET", "/v1/run-types/{type}", Permission::view, "getRunType", "The settings of one run type",
       with(show_run_type)},
      {"PUT",
       "/v1/run-types/{type}",
       Permission::operate,
       "putRunType",
       "Pause or limit a run type, or override its lease, attempts and backoff",
       with(put),
       {},
       type_schema},
      {"DELETE", "/v1/run-types/{type}", Permission::operate, "deleteRunType", "Remove the settings of a run type",
       with(remove_run_type)},
  };
}

}  // namespace cairn::api
