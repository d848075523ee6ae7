// /v1/alerts: which filters raise an alert, and which are raised now (alerts.h).
#include "api/alerts.h"
#include "api/api.h"
#include "api/body_members.h"
#include "api/filter_text.h"
#include "api/own_documents.h"
#include "api/problem.h"

namespace cairn::api {
namespace {

constexpr std::size_t alerts_max = 100;

Json alert_document(const DocumentRow& row) {
  Json alert = row.body;
  alert.set("id", row.id);
  alert.set("owner", row.owner);
  alert.set("raised", row.body.find("raised_at") != nullptr);
  return alert;
}

void list_alerts(EngineCore& core, const Call& call) {
  const auto rows = core.store().list_documents({alert_kind}, {1'000, ""});
  if (!rows) return call.reply(problem(rows.error()));
  Json items = Json::array();
  for (const DocumentRow& row : rows->items) items.push_back(alert_document(row));
  call.reply(json_response(Json::object({{"items", items}, {"next_cursor", nullptr}})));
}

void put_alert(EngineCore& core, Alerts& alerts, const Call& call) {
  if (!is_caller_id(call.at("id"))) return call.reply(bad_id("the id of an alert"));
  InstanceFilter filter;
  const std::string_view text = call.body.text_or("filter", "");
  auto read = read_filter(text, filter);
  if (read && text.empty()) read = Error{ErrorCode::invalid, "an alert needs a filter"};
  if (read && !filter.data.empty()) read = Error{ErrorCode::invalid, "an alert cannot search the state (data.)"};
  if (!read) return call.reply(problem(400, "filter", "The filter cannot be read", read.error().message));
  if (const auto lasts = duration_of(call.body, "for"); !lasts) return call.reply(problem(lasts.error()));
  // A changed alert begins again.
  const auto row = put_own(
      core.store(), {alert_kind, std::string(call.at("id")), call.identity.person, call.body, 0, {}}, alerts_max);
  if (row) alerts.changed();
  call.reply(row ? json_response(alert_document(*row)) : problem(row.error()));
}

void remove_alert(EngineCore& core, const Call& call) {
  const auto there = core.store().remove_document(alert_kind, std::string(call.at("id")));
  if (!there) return call.reply(problem(there.error()));
  if (!*there) return call.reply(problem({ErrorCode::not_found, "no alert " + std::string(call.at("id"))}));
  call.reply({204, "application/json", {}, ""});
}

constexpr std::string_view alert_schema =
    R"({"type":"object","required":["name","filter","more_than"],"additionalProperties":false,"properties":{
  "name":{"type":"string","minLength":1,"maxLength":60},
  "filter":{"type":"string","minLength":1,"maxLength":1000,"description":"status:suspended definition:loan.approval …"},
  "more_than":{"type":"integer","minimum":0,"maximum":9999,"description":"raise it when more instances match"},
  "for":{"type":"string","description":"only when more match for this long: 5m"}}})";

}  // namespace

std::vector<Route> alert_routes(EngineCore& core, InstanceWaiters& waiters) {
  EngineCore* const with = &core;
  const auto alerts = std::make_shared<Alerts>(core);  // lives as long as the routes
  waiters.on_serve([alerts] { alerts->serve(); });
  return {
      {"GET", "/v1/alerts", Permission::view, "listAlerts", "Alerts, and which are raised",
       [with, alerts](const Call& call) { list_alerts(*with, call); }},
      {"PUT",
       "/v1/alerts/{id}",
       Permission::operate,
       "putAlert",
       "Raise an alert when more instances match a filter",
       [with, alerts](const Call& call) { put_alert(*with, *alerts, call); },
       {},
       alert_schema},
      {"DELETE", "/v1/alerts/{id}", Permission::operate, "deleteAlert", "Remove an alert",
       [with](const Call& call) { remove_alert(*with, call); }},
  };
}

}  // namespace cairn::api
