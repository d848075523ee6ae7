#include "base/id.h"
#include "server/api.h"
#include "server/bulk_jobs.h"
#include "server/filter_text.h"
#include "server/problem.h"

namespace cairn::server {
namespace {

BulkJobs::Action action_of(Coordinator& coordinator, const Call& call) {
  const std::string name(call.body["action"].as_string());
  const std::string reason(call.body.text_or("reason", ""));
  const Actor actor = actor_of(call);
  const auto ask = [&coordinator, actor](decltype(Event::what) what) -> BulkJobs::Action {
    return [&coordinator, actor, what = std::move(what)](const InstanceId& id) -> Result<void> {
      CAIRN_TRY_VOID(coordinator.request(id, what, actor));
      return {};
    };
  };
  if (name == "cancel") return ask(CancelRequested{reason});
  if (name == "suspend") return ask(SuspendRequested{reason});
  if (name == "resume") return ask(ResumeRequested{});
  if (name == "retry") return ask(RetryRequested{});
  if (name == "delete") {
    return [&coordinator, reason](const InstanceId& id) { return coordinator.remove(id, reason); };
  }
  const Json& given = call.body["signal"];
  SignalRequest signal;
  signal.name = std::string(given.text_or("name", ""));
  signal.key = given["key"];
  signal.payload = given["payload"];
  signal.actor = actor;
  return [&coordinator, signal](const InstanceId& id) -> Result<void> {
    CAIRN_TRY_VOID(coordinator.signal(id, signal));
    return {};
  };
}

void submit(Coordinator& coordinator, BulkJobs& jobs, const Call& call) {
  const std::string name(call.body["action"].as_string());
  if (name == "signal" && !call.body.find("signal")) {
    call.reply(problem({ErrorCode::invalid, "the action signal needs `signal`: {name, key, payload}"}));
    return;
  }
  InstanceFilter filter;
  const std::string_view text = call.body.text_or("filter", "");
  if (const auto read = read_filter(text, filter); !read) {
    call.reply(problem(422, "filter", "The filter cannot be read", read.error().message));
    return;
  }
  // Everything by mistake is the worst case: an empty filter must be meant.
  if (text.empty() && !(call.body["all"].is_bool() && call.body["all"].as_bool())) {
    call.reply(problem({ErrorCode::invalid, "without a filter it would be every instance: say \"all\": true"}));
    return;
  }
  const auto found = coordinator.store().list_instances(filter, {BulkJobs::items_max, ""});
  if (!found) {
    call.reply(problem(found.error()));
    return;
  }
  Json answer = Json::object({{"action", name}, {"matched", static_cast<std::int64_t>(found->items.size())}});
  if (!found->next_cursor.empty()) {
    call.reply(problem(413, "limit", "A limit was passed",
                       "more than 1000 instances match; narrow the filter, by time for example",
                       Json::object({{"matched_at_least", static_cast<std::int64_t>(found->items.size() + 1)}})));
    return;
  }
  if (call.body["dry_run"].is_bool() && call.body["dry_run"].as_bool()) {
    Json instances = Json::array();
    for (const InstanceRow& row : found->items) {
      instances.push_back(
          Json::object({{"id", row.id.value}, {"definition", row.program.name}, {"status", to_string(row.status)}}));
    }
    answer.set("instances", instances);
    answer.set("dry_run", true);
    call.reply(json_response(answer));
    return;
  }
  std::vector<InstanceId> instances;
  for (const InstanceRow& row : found->items) instances.push_back(row.id);
  const auto id =
      jobs.submit(new_uuid(coordinator.store().now()), name, std::move(instances), action_of(coordinator, call));
  if (!id) {
    call.reply(problem(503, "overloaded", "Too many requests wait already", "try again when earlier jobs are done"));
    return;
  }
  answer.set("id", *id);
  Response response = json_response(answer, 202);
  response.headers.emplace_back("location", "/v1/bulk/" + *id);
  call.reply(std::move(response));
}

void show(const BulkJobs& jobs, const Call& call) {
  const auto progress = jobs.find(std::string(call.at("id")));
  if (!progress) {
    call.reply(problem({ErrorCode::not_found, "no job " + std::string(call.at("id")) + " on this node"}));
    return;
  }
  Json failed = Json::array();
  for (const BulkJobs::Item& item : progress->items) {
    if (!item.error.empty()) {
      failed.push_back(Json::object({{"instance", item.instance.value}, {"detail", item.error}}));
    }
  }
  call.reply(json_response(Json::object({{"id", progress->id},
                                         {"action", progress->action},
                                         {"total", static_cast<std::int64_t>(progress->total)},
                                         {"done", static_cast<std::int64_t>(progress->items.size() - failed.size())},
                                         {"failed", failed},
                                         {"finished", progress->finished}})));
}

constexpr std::string_view bulk_schema =
    R"({"type":"object","required":["action"],"additionalProperties":false,"properties":{
  "action":{"enum":["cancel","suspend","resume","retry","signal","delete"]},
  "filter":{"type":"string","description":"status:suspended definition:loan.approval …"},
  "all":{"type":"boolean","description":"without a filter: every instance is meant"},
  "dry_run":{"type":"boolean","description":"only say what would be done"},
  "reason":{"type":"string"},
  "signal":{"type":"object","required":["name"],"additionalProperties":false,"properties":{
    "name":{"type":"string"},"key":{"type":["string","null"]},"payload":true}}}})";

}  // namespace

std::vector<Route> bulk_routes(Coordinator& coordinator) {
  Coordinator* const with = &coordinator;
  const auto jobs = std::make_shared<BulkJobs>();  // lives as long as the routes
  return {
      {"POST",
       "/v1/bulk",
       Permission::operate,
       "startBulk",
       "Cancel, suspend, resume, retry, signal or delete every instance that matches",
       [with, jobs](const Call& call) { submit(*with, *jobs, call); },
       {},
       bulk_schema},
      {"GET", "/v1/bulk/{id}", Permission::operate, "getBulk", "How far a bulk action is",
       [jobs](const Call& call) { show(*jobs, call); }},
  };
}

}  // namespace cairn::server
