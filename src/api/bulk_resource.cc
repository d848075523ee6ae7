#include <charconv>

#include "api/access/api_gate.h"
#include "api/api.h"
#include "api/body_members.h"
#include "api/bulk_jobs.h"
#include "api/filter_text.h"
#include "api/problem.h"
#include "base/id.h"
#include "base/json_integer.h"
#include "engine/request_key.h"
#include "store/audit_scope.h"

namespace cairn::api {
namespace {

// Limits a filter that matches more instances than intended.
constexpr std::size_t instances_unless_said = 1'000;

BulkJobs::Action action_of(EngineCore& core, const Call& call) {
  const std::string name(call.body["action"].as_string());
  const std::string reason(call.body.text_or("reason", ""));
  const Actor actor = actor_of(call);
  const auto ask = [&core, actor](EventBody what) -> BulkJobs::Action {
    return [&core, actor, what = std::move(what)](const InstanceId& id) -> Result<void> {
      CAIRN_TRY_VOID(core.instances().request(id, what, actor));
      return {};
    };
  };
  if (name == "cancel") return ask(CancelRequested{reason});
  if (name == "suspend") return ask(SuspendRequested{reason});
  if (name == "resume") return ask(ResumeRequested{reason});
  if (name == "retry") return ask(RetryRequested{false, reason});
  if (name == "delete") {
    return [&core, reason](const InstanceId& id) { return core.instances().remove(id, reason); };
  }
  const Json& given = call.body["signal"];
  SignalRequest signal;
  signal.name = std::string(given.text_or("name", ""));
  signal.key = given["key"];
  signal.payload = given["payload"];
  signal.actor = actor;
  signal.id = call.repeat_key;
  return [&core, signal](const InstanceId& id) -> Result<void> {
    CAIRN_TRY_VOID(core.instances().signal(id, signal));
    return {};
  };
}

// Each item writes its own audit row in its own commit.
BulkJobs::Action on_behalf_of(EngineCore& core, const Call& call) {
  AuditRow row = audit_row(call, "bulk." + std::string(call.body["action"].as_string()));
  return [&core, row = std::move(row), trace = call.trace.header(), key = call.repeat_key,
          action = action_of(core, call)](const InstanceId& id) -> Result<void> {
    AuditRow own = row;
    own.resource = "/v1/instances/" + id.value;
    own.at = core.store().now();
    AuditScope audit_scope({std::move(own)}, trace);
    const AuditScope::Enter scope(audit_scope);
    const RequestKey::Scope under(key);
    return action(id);
  };
}

struct Matching {
  std::vector<InstanceId> ids;
  Json shown = Json::array();  // the first items, for display
  bool more = false;
};
Result<Matching> match(InstanceStore& store, const InstanceFilter& filter, std::size_t max) {
  constexpr std::size_t page_rows = 1'000;
  Matching matching;
  PageRequest page{page_rows, ""};
  do {
    CAIRN_TRY(const auto rows, store.list_instances(filter, page));
    for (const InstanceRow& row : rows.items) {
      if (matching.ids.size() == max) {
        matching.more = true;
        return matching;
      }
      matching.ids.push_back(row.id);
      if (matching.shown.size() < page_rows) {
        matching.shown.push_back(
            Json::object({{"id", row.id.value}, {"definition", row.program.name}, {"status", to_string(row.status)}}));
      }
    }
    page.cursor = rows.next_cursor;
  } while (!page.cursor.empty());
  return matching;
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
  // An empty filter matches everything, so the request must say `all: true` explicitly.
  if (text.empty() && !(call.body["all"].is_bool() && call.body["all"].as_bool())) {
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
  const auto matching = match(core.store(), filter, dry_run ? BulkJobs::items_max : max);
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
  const auto id = jobs.submit(new_uuid(core.store().now()), name, matching->ids, on_behalf_of(core, call));
  if (!id) {
    call.reply(limit_problem(503, "limits.bulk_jobs_max", jobs.jobs_max(), "try again when earlier jobs are done"));
    return;
  }
  answer.set("id", *id);
  Response response = json_response(answer, 202);
  response.headers.emplace_back("location", "/v1/bulk/" + *id);
  call.reply(std::move(response));
}

Json document(const BulkJobs::Progress& progress) {
  Json failed = Json::array();
  for (const BulkJobs::Failed& item : progress.failures) {
    failed.push_back(Json::object({{"instance", item.instance.value}, {"detail", item.error}}));
  }
  return Json::object({{"id", progress.id},
                       {"action", progress.action},
                       {"total", static_cast<std::int64_t>(progress.total)},
                       {"done", static_cast<std::int64_t>(progress.done)},
                       {"failed", failed},
                       {"failed_count", static_cast<std::int64_t>(progress.failed)},
                       {"finished", progress.finished}});
}

void show_bulk(BulkJobs& jobs, const Call& call) {
  const std::string id(call.at("id"));
  const auto none = [&] { call.reply(problem({ErrorCode::not_found, "no job " + id + " on this node"})); };
  const std::string_view text = call.request.query_value("after");
  if (text.empty()) {
    const auto progress = jobs.find(id);
    progress ? call.reply(json_response(document(*progress))) : none();
    return;
  }
  std::size_t after = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), after);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) {
    call.reply(problem({ErrorCode::invalid, "after must be the number of finished items that you saw last"}));
    return;
  }
  const auto told = [reply = call.reply](const BulkJobs::Progress& progress) {
    reply(json_response(document(progress)));
  };
  if (!jobs.tell(id, after, told)) none();
}

constexpr std::string_view bulk_schema =
    R"({"type":"object","required":["action"],"additionalProperties":false,"properties":{
  "action":{"enum":["cancel","suspend","resume","retry","signal","delete"]},
  "filter":{"type":"string","description":"status:suspended definition:loan.approval …"},
  "max":{"type":"integer","minimum":1,"maximum":100000,"description":"refuse if more instances match; default 1000"},
  "all":{"type":"boolean","description":"confirms that every instance is meant if there is no filter"},
  "dry_run":{"type":"boolean","description":"only list the instances"},
  "reason":{"type":"string"},
  "signal":{"type":"object","required":["name"],"additionalProperties":false,"properties":{
    "name":{"type":"string"},"key":{"type":["string","null"]},"payload":true}}}})";

}  // namespace

std::vector<Route> bulk_routes(EngineCore& core, InstanceWaiters& waiters) {
  EngineCore* const with = &core;
  const auto jobs = std::make_shared<BulkJobs>(
      BulkJobs::default_patience,
      core.context().options.limits.bulk_jobs_max);  // shared with InstanceWaiters; lives as long as the routes
  waiters.on_close([jobs] { jobs->stop_waiting(); });
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
  };
}

}  // namespace cairn::api
