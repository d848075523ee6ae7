#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <set>

#include "api/access/api_gate.h"
#include "api/api.h"
#include "api/body_members.h"
#include "api/bulk_jobs.h"
#include "api/filter_text.h"
#include "api/instance_search.h"
#include "api/problem.h"
#include "base/id.h"
#include "base/json_integer.h"
#include "engine/request_key.h"
#include "store/audit_scope.h"

namespace cairn::api {
namespace {

// Limits a filter that matches more instances than intended.
constexpr std::size_t instances_unless_said = 1'000;

Json role_names(const std::vector<std::string>& list) {
  Json items = Json::array();
  for (const std::string& text : list) items.push_back(text);
  return items;
}

// What a job needs to act for its caller, also after a restart.
Json order_of(const Call& call) {
  const Actor actor = actor_of(call);
  Json order = Json::object({{"action", call.body["action"]},
                             {"reason", reason_of(call)},
                             {"person", actor.name},
                             {"sender", actor.sender},
                             {"account", call.identity.account},
                             {"from", call.request.peer},
                             {"trace", call.trace.header()}});
  if (const Json* signal = call.body.find("signal")) order.set("signal", *signal);
  if (const Json* filter = call.body.find("filter")) order.set("filter", *filter);
  if (actor.roles) order.set("roles", role_names(*actor.roles));
  order.set("manages_tasks", actor.manages_tasks);
  // A repeat of the request begins another job after a crash. With one key no instance is changed twice.
  if (!call.repeat_key.empty()) order.set("key", call.repeat_key);
  return order;
}

Actor actor_from(const Json& order) {
  Actor actor;
  actor.name = std::string(order.text_or("person", ""));
  actor.sender = std::string(order.text_or("sender", ""));
  actor.manages_tasks = order["manages_tasks"] == Json(true);
  if (order["roles"].is_array()) {
    actor.roles.emplace();
    for (const Json& role : order["roles"].items()) actor.roles->emplace_back(role.as_string());
  }
  return actor;
}

Result<void> act(EngineCore& core, const Json& order, const InstanceId& id, const std::string& key) {
  const std::string_view name = order.text_or("action", "");
  const std::string reason(order.text_or("reason", ""));
  const Actor actor = actor_from(order);
  const auto ask = [&](EventBody what) -> Result<void> {
    CAIRN_TRY_VOID(core.instances().request(id, std::move(what), actor));
    return {};
  };
  if (name == "cancel") return ask(CancelRequested{reason});
  if (name == "suspend") return ask(SuspendRequested{reason});
  if (name == "resume") return ask(ResumeRequested{reason});
  if (name == "retry") return ask(RetryRequested{false, reason});
  if (name == "delete") return core.instances().remove(id, reason);
  const Json& given = order["signal"];
  SignalRequest signal;
  signal.name = std::string(given.text_or("name", ""));
  signal.key = given["key"];
  signal.payload = given["payload"];
  signal.actor = actor;
  signal.id = key;
  CAIRN_TRY_VOID(core.instances().signal(id, signal));
  return {};
}

// Each item writes its own audit row in its own commit. The space keeps callers from choosing the same key.
Result<void> act_on_behalf(EngineCore& core, const Json& order, const InstanceId& id) {
  AuditRow row;
  row.who = std::string(order.text_or("person", ""));
  row.what = "bulk." + std::string(order.text_or("action", ""));
  row.resource = "/v1/instances/" + id.value;
  row.why = std::string(order.text_or("reason", ""));
  row.from = std::string(order.text_or("from", ""));
  row.details = Json::object({{"account", order["account"]}, {"job", order["id"]}});
  row.at = core.store().now();
  AuditScope audit_scope({std::move(row)}, std::string(order.text_or("trace", "")));
  const AuditScope::Enter scope(audit_scope);
  const std::string key(order.text_or("key", "bulk " + std::string(order.text_or("id", ""))));
  const RequestKey::Scope under(key);
  return act(core, order, id, key);
}

struct Matching {
  std::vector<InstanceId> ids;
  Json shown = Json::array();  // the first items, for display
  bool more = false;

  void add(const InstanceRow& row, std::size_t max) {
    constexpr std::size_t shown_max = 1'000;
    more = ids.size() == max;
    if (more) return;
    ids.push_back(row.id);
    if (ids.size() > shown_max) return;
    Json one =
        Json::object({{"id", row.id.value}, {"definition", row.program.name}, {"status", to_string(row.status)}});
    if (row.reference.key.is_string()) one.set("reference", row.reference.key);
    shown.push_back(std::move(one));
  }
};
Result<Matching> match(Store& store, const InstanceFilter& filter, std::size_t max) {
  constexpr std::size_t page_rows = 1'000;
  Matching matching;
  // A bulk action must see all of them, however long it takes.
  InstanceSearch search(store, std::numeric_limits<std::size_t>::max());
  PageRequest page{page_rows, ""};
  do {
    CAIRN_TRY(const auto rows, search.list(filter, page));
    for (const InstanceRow& row : rows.items) {
      matching.add(row, max);
      if (matching.more) return matching;
    }
    page.cursor = rows.next_cursor;
  } while (!page.cursor.empty());
  return matching;
}

// The listed instances, each once.
Result<Matching> listed(InstanceStore& store, const Json& ids, std::size_t max) {
  Matching matching;
  std::set<std::string> seen;
  for (const Json& id : ids.items()) {
    const std::string text(id.as_string());
    if (!seen.insert(text).second) continue;
    CAIRN_TRY(const auto row, store.find_instance({text}));
    if (!row) continue;
    matching.add(*row, max);
  }
  return matching;
}

// The first instances of a preview.
Json sample_of(const Json& instances) {
  constexpr std::size_t sample_max = 20;
  Json sample = Json::array();
  for (std::size_t i = 0; i < std::min(sample_max, instances.size()); ++i) sample.push_back(instances.items()[i]);
  return sample;
}

void submit(EngineCore& core, BulkJobs& jobs, const Call& call) {
  const std::string name(call.body["action"].as_string());
  if (name == "signal" && !call.body.find("signal")) {
    call.reply(problem({ErrorCode::invalid, "the action signal needs `signal`: {name, key, payload}"}));
    return;
  }
  InstanceFilter filter;
  const std::string_view text = call.body.text_or("filter", "");
  if (const auto read = read_filter(text, filter); !read) {
    call.reply(problem(wrong_member("/filter", {ErrorCode::invalid, read.error().message})));
    return;
  }
  if (const auto fits = check_search(filter.text, core.context().options.limits); !fits) {
    call.reply(problem(fits.error()));
    return;
  }
  const Json* const instances = call.body.find("instances");
  if (instances != nullptr && call.body.find("filter") != nullptr) {
    call.reply(problem({ErrorCode::invalid, "give either `instances` or a `filter`"}));
    return;
  }
  // An empty filter matches everything, so the request must say `all: true` explicitly.
  if (instances == nullptr && text.empty() && !(call.body["all"].is_bool() && call.body["all"].as_bool())) {
    call.reply(problem({ErrorCode::invalid, "without a filter every instance matches: set \"all\": true to confirm"}));
    return;
  }
  const auto asked = integer_of(call.body, "max");
  if (!asked) {
    call.reply(problem(asked.error()));
    return;
  }
  const std::size_t max = *asked ? static_cast<std::size_t>(**asked) : instances_unless_said;
  const bool dry_run = call.body["dry_run"].is_bool() && call.body["dry_run"].as_bool();
  const std::size_t accepted = dry_run ? BulkJobs::items_max : max;
  const auto matching =
      instances != nullptr ? listed(core.store(), *instances, accepted) : match(core.store(), filter, accepted);
  if (!matching) {
    call.reply(problem(matching.error()));
    return;
  }
  Json answer = Json::object({{"action", name}, {"matched", static_cast<std::int64_t>(matching->ids.size())}});
  if (dry_run) {
    answer.set("instances", matching->shown);
    answer.set("more", matching->more);
    answer.set("dry_run", true);
    call.reply(json_response(answer));
    return;
  }
  if (matching->more) {
    call.reply(
        limit_problem(413, "bulk_instances", static_cast<std::int64_t>(max),
                      "more than " + std::to_string(max) + " instances match; narrow the filter or raise \"max\"", 0,
                      Json::object({{"matched_at_least", static_cast<std::int64_t>(max + 1)}})));
    return;
  }
  const bool preview = call.body["preview"] == Json(true);
  const auto id =
      jobs.submit(order_of(call), matching->ids, preview ? BulkJobs::State::preview : BulkJobs::State::running);
  if (!id) {
    call.reply(problem(id.error()));
    return;
  }
  if (!*id) {
    call.reply(limit_problem(503, "limits.bulk_jobs_max", jobs.jobs_max(), "try again when earlier jobs are done"));
    return;
  }
  answer.set("id", **id);
  if (preview) {
    answer.set("preview", true);
    answer.set("instances", sample_of(matching->shown));
  }
  Response response = json_response(answer, preview ? 201 : 202);
  response.headers.emplace_back("location", "/v1/bulk/" + **id);
  call.reply(std::move(response));
}

Json document(const BulkJobs::Progress& progress) {
  Json failed = Json::array();
  for (const BulkJobs::Failed& item : progress.failures) {
    failed.push_back(Json::object({{"instance", item.instance.value}, {"detail", item.error}}));
  }
  Json json = Json::object({{"id", progress.id},
                            {"action", progress.order["action"]},
                            {"state", to_string(progress.state)},
                            {"created_at", format_timestamp(progress.created_at)},
                            {"person", progress.order["person"]},
                            {"reason", progress.order["reason"]},
                            {"total", static_cast<std::int64_t>(progress.total)},
                            {"done", static_cast<std::int64_t>(progress.done)},
                            {"failed", failed},
                            {"failed_count", static_cast<std::int64_t>(progress.failed)},
                            {"finished", progress.is_over()}});
  if (const Json* filter = progress.order.find("filter")) json.set("filter", *filter);
  return json;
}

Result<BulkJobs::Progress> job_of(const BulkJobs& jobs, const Call& call) {
  const std::string id(call.at("id"));
  CAIRN_TRY(auto progress, jobs.find(id));
  if (!progress) return Error{ErrorCode::not_found, "no job " + id};
  return std::move(*progress);
}

// The number in a query parameter, or 0.
Result<std::size_t> number_of(const Call& call, std::string_view name, const char* what) {
  const std::string_view text = call.request.query_value(name);
  std::size_t number = 0;
  if (text.empty()) return number;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) {
    return Error{ErrorCode::invalid, std::string(name) + " must be " + what};
  }
  return number;
}

void show_bulk(BulkJobs& jobs, const Call& call) {
  if (call.request.query_value("after").empty()) {
    const auto progress = job_of(jobs, call);
    call.reply(progress ? json_response(document(*progress)) : problem(progress.error()));
    return;
  }
  const auto after = number_of(call, "after", "the number of finished items that you saw last");
  if (!after) return call.reply(problem(after.error()));
  const auto told = [reply = call.reply](const BulkJobs::Progress& progress) {
    reply(json_response(document(progress)));
  };
  const std::string id(call.at("id"));
  const auto found = jobs.tell(id, *after, told);
  if (!found) return call.reply(problem(found.error()));
  if (!*found) call.reply(problem({ErrorCode::not_found, "no job " + id}));
}

void list_bulk(const BulkJobs& jobs, const Call& call) {
  const auto found = jobs.list();
  if (!found) return call.reply(problem(found.error()));
  Json items = Json::array();
  for (const BulkJobs::Progress& job : *found) {
    Json one = document(job);
    one.erase("failed");
    items.push_back(std::move(one));
  }
  call.reply(json_response(Json::object({{"items", items}, {"next_cursor", nullptr}})));
}

// Each instance of the job with its result.
void list_bulk_items(const BulkJobs& jobs, const Call& call) {
  const auto job = job_of(jobs, call);
  if (!job) return call.reply(problem(job.error()));
  const auto page = page_of(call);
  if (!page) return call.reply(problem(400, "parameter", "Invalid query parameter", page.error().message));
  const auto from = number_of(call, "cursor", "next_cursor of the previous page");
  if (!from) return call.reply(problem(from.error()));
  const auto ids = jobs.items(*job, *from, page->limit);
  if (!ids) return call.reply(problem(ids.error()));
  std::map<std::string, std::string> failures;
  for (const BulkJobs::Failed& one : job->failures) failures.emplace(one.instance.value, one.error);
  Json items = Json::array();
  for (std::size_t i = 0; i < ids->size(); ++i) {
    const std::string& id = (*ids)[i].value;
    const auto failure = failures.find(id);
    const bool is_through = *from + i < job->position();
    Json one = Json::object({{"instance", id},
                             {"outcome", !is_through                 ? "pending"
                                         : failure != failures.end() ? "failed"
                                                                     : "done"}});
    if (failure != failures.end()) one.set("detail", failure->second);
    items.push_back(std::move(one));
  }
  const std::size_t next = *from + ids->size();
  call.reply(json_response(
      Json::object({{"items", items}, {"next_cursor", next < job->total ? Json(std::to_string(next)) : Json()}})));
}

void begin_bulk(BulkJobs& jobs, const Call& call) {
  if (const auto done = jobs.start(std::string(call.at("id")), reason_of(call)); !done) {
    return call.reply(problem(done.error()));
  }
  const auto job = job_of(jobs, call);
  call.reply(job ? json_response(document(*job)) : problem(job.error()));
}

using Change = Result<void> (BulkJobs::*)(const std::string& id);

void change_bulk(BulkJobs& jobs, const Call& call, Change change) {
  const std::string id(call.at("id"));
  if (const auto done = (jobs.*change)(id); !done) return call.reply(problem(done.error()));
  const auto job = job_of(jobs, call);
  call.reply(job ? json_response(document(*job)) : problem(job.error()));
}

constexpr std::string_view bulk_schema =
    R"({"type":"object","required":["action"],"additionalProperties":false,"properties":{
  "action":{"enum":["cancel","suspend","resume","retry","signal","delete"]},
  "filter":{"type":"string","description":"status:suspended definition:loan.approval …"},
  "max":{"type":"integer","minimum":1,"maximum":100000,"description":"refuse if more instances match; default 1000"},
  "all":{"type":"boolean","description":"confirms that every instance is meant if there is no filter"},
  "instances":{"type":"array","minItems":1,"maxItems":10000,"items":{"type":"string"},"description":"these, instead of a filter"},
  "dry_run":{"type":"boolean","description":"only list the instances"},
  "preview":{"type":"boolean","description":"freeze the selection; POST /v1/bulk/{id}/start begins"},
  "reason":{"type":"string"},
  "signal":{"type":"object","required":["name"],"additionalProperties":false,"properties":{
    "name":{"type":"string"},"key":{"type":["string","null"]},"payload":true}}}})";

constexpr std::string_view begin_schema =
    R"({"type":"object","additionalProperties":false,"properties":{"reason":{"type":"string"}}})";

}  // namespace

std::vector<Route> bulk_routes(EngineCore& core, InstanceWaiters& waiters) {
  EngineCore* const with = &core;
  // Shared with InstanceWaiters; lives as long as the routes.
  const auto jobs = std::make_shared<BulkJobs>(
      core.store(), core.node(),
      [with](const Json& order, const InstanceId& id) { return act_on_behalf(*with, order, id); },
      BulkJobs::default_patience, core.context().options.limits.bulk_jobs_max);
  waiters.on_close([jobs] { jobs->stop_waiting(); });
  waiters.on_serve([jobs] { jobs->serve(); });
  const auto changing = [jobs](Change change) {
    return [jobs, change](const Call& call) { change_bulk(*jobs, call, change); };
  };
  return {
      {"POST",
       "/v1/bulk",
       Permission::operate,
       "startBulk",
       "Cancel, suspend, resume, retry, signal or delete all instances that match a filter",
       [with, jobs](const Call& call) { submit(*with, *jobs, call); },
       {},
       bulk_schema},
      {"GET",
       "/v1/bulk/{id}",
       Permission::operate,
       "getBulk",
       "The progress of a bulk action",
       [jobs](const Call& call) { show_bulk(*jobs, call); },
       {{"after", "answer when more than this many are through, or all, or after 20 s"}}},
      {"GET", "/v1/bulk", Permission::operate, "listBulk", "Bulk actions, newest first",
       [jobs](const Call& call) { list_bulk(*jobs, call); }},
      {"GET",
       "/v1/bulk/{id}/items",
       Permission::operate,
       "listBulkItems",
       "The instances of a bulk action, each with its result",
       [jobs](const Call& call) { list_bulk_items(*jobs, call); },
       {{"limit", "maximum number of items"}, {"cursor", "next_cursor of the previous page"}}},
      {"POST",
       "/v1/bulk/{id}/start",
       Permission::operate,
       "beginBulk",
       "Begin a bulk action that was previewed",
       [jobs](const Call& call) { begin_bulk(*jobs, call); },
       {},
       begin_schema},
      {"POST", "/v1/bulk/{id}/pause", Permission::operate, "pauseBulk", "Pause a bulk action",
       changing(&BulkJobs::pause)},
      {"POST", "/v1/bulk/{id}/resume", Permission::operate, "resumeBulk", "Continue a paused bulk action",
       changing(&BulkJobs::resume)},
      {"POST", "/v1/bulk/{id}/cancel", Permission::operate, "cancelBulk",
       "End a bulk action; what it has done stays done", changing(&BulkJobs::cancel)},
  };
}

}  // namespace cairn::api
