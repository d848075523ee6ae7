#include <algorithm>
#include <atomic>

#include "api/access/worker_scope.h"
#include "api/api.h"
#include "api/body_members.h"
#include "api/documents.h"
#include "api/page_answer.h"
#include "api/problem.h"
#include "base/json_integer.h"
#include "engine/run_key.h"
#include "engine/sender_scope.h"
#include "schedule/schedule.h"
#include "store/lease_holder.h"

namespace cairn::api {
namespace {

constexpr Duration lease_default = Duration::of_seconds(30);
constexpr std::chrono::milliseconds wait_max{60'000};
constexpr std::int64_t leased_max = 1000;
// A worker that leases for longer would block its runs for too long after a crash.
constexpr Duration lease_max = Duration::of_seconds(86'400);

constexpr const char* released = "released";

RunId run_id_of(const Call& call) { return {std::string(call.at("id"))}; }

Result<Duration> lease_of(const Json& body) {
  CAIRN_TRY(const auto given, duration_of(body, "lease"));
  const Duration lease = given.value_or(lease_default);
  if (lease < Duration::of_ms(100) || lease > lease_max) {
    return wrong_member("/lease", {ErrorCode::invalid, "must be from 100ms to 1d"});
  }
  return lease;
}

// Who submits, leases or reports. The `worker` member is a label for the process and proves nothing.
std::string holder_of(const Call& call) {
  const std::string label(call.body.text_or("worker", ""));
  const Identity& identity = call.identity;
  if (!identity.is_named()) return label.empty() ? identity.person : label;
  return LeaseHolder{label, identity.person, identity.account}.text();
}

// The account that must hold the lease; empty for callers that may change every lease.
std::string account_of(const Call& call) {
  return call.identity.may(Permission::operate) ? std::string() : call.identity.account;
}

Response reserved(std::string_view type) {
  return problem(403, "forbidden", "Not allowed",
                 "run types under cairn. are reserved for the engine: " + std::string(type));
}

Response not_holder(const Call& call) {
  return problem(403, "forbidden", "Not allowed",
                 "the lease of run " + std::string(call.at("id")) + " is held by another credential");
}

// The answer does not contain the current fence: only the holder may know it.
Response lease_lost(const Call& call, const RunRow& row) {
  const std::string why =
      is_final(row.status) ? std::string("it is ") + to_string(row.status) : "the fence does not match its lease";
  return problem(409, "lease_lost", "The lease was lost", "run " + std::string(call.at("id")) + ": " + why,
                 Json::object({{"status_now", to_string(row.status)}}));
}

// The refusal of a run that the caller may not submit; empty if allowed.
std::optional<Response> refusal_of(const Json& body) {
  const Json* const id = body.find("id");
  if (id != nullptr && !is_uuid(id->as_string())) {
    return problem(400, "id", "Invalid id", "the id of a run must be a UUID");
  }
  const std::string_view type = body["type"].as_string();
  if (!is_reserved_type(type)) return std::nullopt;
  return reserved(type);
}

// Marks the request as its sender's. An id that the sender chose makes a key of its own, apart from the keys they sent.
void sign(RunRequest& request, const Call& call, const Actor& actor) {
  if (request.idempotency_key.empty() && !request.id.empty()) request.idempotency_key = key_of_id(request.id);
  request.idempotency_key = scoped_id(actor, std::move(request.idempotency_key));
  request.created_by = holder_of(call);
  request.traceparent = call.trace.carried();
}

Result<RunRequest> request_of(const Json& body) {
  RunRequest request;
  request.id = std::string(body.text_or("id", ""));
  request.type = std::string(body["type"].as_string());
  request.payload = body["payload"];
  request.idempotency_key = std::string(body.text_or("idempotency_key", ""));
  CAIRN_TRY(const auto priority, integer_of(body, "priority"));
  CAIRN_TRY(const auto attempts_max, integer_of(body, "max_attempts"));
  if (priority) request.priority = *priority;
  if (attempts_max) request.attempts_max = static_cast<int>(*attempts_max);
  if (body["run_at"].is_string()) {
    auto at = parse_timestamp(body["run_at"].as_string());
    if (!at) return wrong_member("/run_at", at.error());
    request.run_at = *at;
  }
  CAIRN_TRY(request.delay, duration_of(body, "delay"));
  if (request.run_at && request.delay) {
    return wrong_member("/delay", {ErrorCode::invalid, "a run has `run_at` or `delay`, not both"});
  }
  CAIRN_TRY(request.timeout, duration_of(body, "timeout"));
  const Json& retry = body["retry"];
  CAIRN_TRY(const auto backoff, duration_of(retry, "backoff", "/retry"));
  CAIRN_TRY(const auto cap, duration_of(retry, "cap", "/retry"));
  if (backoff) request.backoff = *backoff;
  if (cap) request.cap = *cap;
  if (retry["factor"].is_number()) request.factor = retry["factor"].as_double();
  if (retry["jitter"].is_number()) request.jitter = retry["jitter"].as_double();
  return request;
}

void submit(EngineCore& core, const Call& call) {
  if (auto refused = refusal_of(call.body)) return call.reply(std::move(*refused));
  auto request = request_of(call.body);
  if (!request) return call.reply(problem(request.error()));
  if (request->idempotency_key.empty()) request->idempotency_key = std::string(call.request.header("idempotency-key"));
  sign(*request, call, actor_of(call));
  core.runs().submit(*request, [reply = call.reply](Result<SubmittedRun> submitted) {
    if (!submitted) return reply(problem(submitted.error()));
    Response response = json_response(document(submitted->first), submitted->second ? 201 : 200);
    if (!submitted->second) response.headers.emplace_back(replayed_header, "true");
    reply(std::move(response));
  });
}

// Items that failed for a passing reason make the answer partial.
Response items_response(Json items, bool partial) {
  Response response = json_response(Json::object({{"items", std::move(items)}}));
  response.partial = partial;
  return response;
}

// A batch is a repeat if all that was done was done before.
class Repeats {
 public:
  void add(bool repeated, bool done) {
    any_ |= repeated;
    changed_ |= done && !repeated;
  }
  Response mark(Response response) const {
    if (any_ && !changed_ && !response.partial) response.headers.emplace_back(replayed_header, "true");
    return response;
  }

 private:
  bool any_ = false;
  bool changed_ = false;
};

void submit_many(EngineCore& core, const Call& call) {
  std::vector<RunRequest> requests;
  const Actor actor = actor_of(call);
  for (const Json& item : call.body["runs"].items()) {
    if (auto refused = refusal_of(item)) return call.reply(std::move(*refused));
    auto request = request_of(item);
    if (!request) {
      const std::string place = "/runs/" + std::to_string(requests.size());
      return call.reply(problem(with_context(error_below(place, request.error()), place.substr(1))));
    }
    sign(*request, call, actor);
    if (request->idempotency_key.empty() && !call.repeat_key.empty()) {
      request->idempotency_key = call.repeat_key + "/" + std::to_string(requests.size());
    }
    requests.push_back(std::move(*request));
  }
  core.runs().submit_all(std::move(requests), [reply = call.reply](const Result<SubmittedRuns>& submitted) {
    if (!submitted) return reply(problem(submitted.error()));
    Json items = Json::array();
    for (std::size_t i = 0; i < submitted->rows.size(); ++i) {
      const RunRow& run = submitted->rows[i];
      const auto error = submitted->errors.find(i);  // the key belongs to other work, which no repeat changes
      items.push_back(error != submitted->errors.end()
                          ? Json::object({{"error", error->second.message}})
                          : Json::object({{"id", run.id.value},
                                          {"status", to_string(run.status)},
                                          {"created", static_cast<bool>(submitted->fresh[i])}}));
    }
    reply(items_response(std::move(items), false));
  });
}

// Whether runs of schedules were leased here. When such a run ends, the next firing may start, and the reporting
// request waits for that.
using Scheduled = std::shared_ptr<std::atomic<bool>>;  // shared by the routes

// Releases runs whose answer did not reach the worker.
std::shared_ptr<ResponseReceipt> given_back(EngineCore& core, std::vector<RunRow> runs) {
  for (RunRow& run : runs) run.payload = Json();
  return std::make_shared<ResponseReceipt>(
      [&core, leased = std::move(runs)] { core.leasing().waiters().give_back(leased); });
}

void lease(EngineCore& core, const Scheduled& scheduled, const Call& call) {
  const auto length = lease_of(call.body);
  if (!length) return call.reply(problem(length.error()));
  const auto wait = duration_of(call.body, "wait");
  if (!wait) return call.reply(problem(wait.error()));
  LeaseRequest request;
  request.worker = holder_of(call);
  request.length = *length;
  for (const char* const member : {"prefixes", "types"}) {
    const Json& names = call.body[member];
    if (!names.is_array()) continue;
    auto& leased = member == std::string_view("types") ? request.types : request.prefixes;
    for (const Json& name : names.items()) {
      if (reaches_reserved_types(name.as_string())) return call.reply(reserved(name.as_string()));
      leased.emplace_back(name.as_string());
    }
  }
  const auto max = integer_of(call.body, "max");
  if (!max) return call.reply(problem(max.error()));
  if (*max) request.max = static_cast<std::size_t>(**max);
  request.bytes_max = call.answer_limits.page_bytes_max;
  const auto patience = std::min(wait_max, std::chrono::milliseconds(wait->value_or(Duration()).ms_up()));
  core.leasing().waiters().ask(
      std::move(request), patience,
      [&core, scheduled, reply = call.reply](Result<std::vector<RunRow>> runs) {
        if (!runs) return reply(problem(runs.error()));
        for (const RunRow& run : *runs) {
          if (schedule_of(run.idempotency_key)) *scheduled = true;
        }
        core.leasing().leased().remember(*runs);
        core.counts().add_leased(*runs);
        Response response(200, "application/json", {}, leased_document(*runs, core.store().now()));
        if (!runs->empty()) response.receipt = given_back(core, std::move(*runs));
        reply(std::move(response));
      },
      [reply = call.reply] { return reply.listening(); });
}

Result<std::uint64_t> fence_of(const Json& body) {
  CAIRN_TRY(const auto fence, integer_of(body, "fence"));
  return static_cast<std::uint64_t>(fence.value_or(0));
}

// `body` has the fence: the whole body, or an item of it.
Result<RunChange> change_of(const Call& call, const Json& body, RunChange::Kind kind, RunId run) {
  RunChange change;
  change.kind = kind;
  change.run = std::move(run);
  CAIRN_TRY(change.fence, fence_of(body));
  change.actor = holder_of(call);
  change.account = account_of(call);
  return change;
}

Response no_such_run(const Call& call) {
  return problem({ErrorCode::not_found, "no run " + std::string(call.at("id"))});
}

void heartbeat(EngineCore& core, const Call& call) {
  const auto length = lease_of(call.body);
  if (!length) return call.reply(problem(length.error()));
  auto asked = change_of(call, call.body, RunChange::Kind::heartbeat, run_id_of(call));
  if (!asked) return call.reply(problem(asked.error()));
  RunChange& change = *asked;
  change.length = *length;
  // Waits only briefly for a row that another transaction has locked: the worker repeats the heartbeat.
  const auto answers = core.store().change_runs(std::span(&change, 1));
  const auto& changed = answers.front();
  if (!changed) return call.reply(problem(changed.error()));
  const RunRow& row = changed->row;
  if (changed->kind == RunChanged::Kind::not_found) return call.reply(no_such_run(call));
  if (changed->kind == RunChanged::Kind::not_holder) return call.reply(not_holder(call));
  const bool cancelled = row.status == RunStatus::cancelled && row.fence == change.fence;
  if (changed->kind != RunChanged::Kind::done && !cancelled) {
    core.reports().incidents().lease_lost(row, change.fence, change.actor);
    return call.reply(lease_lost(call, row));
  }
  Json json = Json::object({{"id", row.id.value}, {"status", to_string(row.status)}, {"cancelled", cancelled}});
  if (row.lease_until) {
    json.set("lease_until", format_timestamp(*row.lease_until));
    json.set("lease_ms", between(core.store().now(), *row.lease_until).ms_up());
  }
  call.reply(json_response(json));
}

// Whether the refused release repeats one that was done under the same Idempotency-Key.
Result<bool> is_repeated_release(EngineCore& core, const RunChange& change, const RunChanged& changed) {
  if (changed.kind == RunChanged::Kind::done) return false;
  CAIRN_TRY(const auto first, first_outcome(core.store(), change.key));
  return first.has_value();
}

void release(EngineCore& core, const Call& call) {
  auto change = change_of(call, call.body, RunChange::Kind::release, run_id_of(call));
  if (!change) return call.reply(problem(change.error()));
  change->key = run_key(call.repeat_key, change->run, change->fence, released);
  const auto changed = core.store().change_run(*change);
  if (!changed) return call.reply(problem(changed.error()));
  if (changed->kind == RunChanged::Kind::not_found) return call.reply(no_such_run(call));
  const auto repeated = is_repeated_release(core, *change, *changed);
  if (!repeated) return call.reply(problem(repeated.error()));
  if (*repeated) {
    Json now = document(changed->row);
    if (changed->row.fence != change->fence) now.erase("fence");  // of another lease
    Response response = json_response(now);
    response.headers.emplace_back(replayed_header, "true");
    return call.reply(std::move(response));
  }
  if (changed->kind == RunChanged::Kind::not_holder) return call.reply(not_holder(call));
  if (changed->kind != RunChanged::Kind::done) return call.reply(lease_lost(call, changed->row));
  call.reply(json_response(document(changed->row)));
}

// Reads `runs`: {id, fence}; a heartbeat also has {lease}.
Result<std::vector<RunChange>> changes_of(const Call& call, RunChange::Kind kind) {
  std::vector<RunChange> changes;
  for (const Json& item : call.body["runs"].items()) {
    auto change = change_of(call, item, kind, {std::string(item["id"].as_string())});
    if (!change) return with_context(change.error(), "runs/" + std::to_string(changes.size()));
    const auto length = lease_of(item);
    if (!length) {
      const std::string place = "/runs/" + std::to_string(changes.size());
      return with_context(error_below(place, length.error()), place.substr(1));
    }
    change->length = *length;
    changes.push_back(std::move(*change));
  }
  return changes;
}

// One item per change. `done` names the outcome of a successful change, also of an earlier one that it repeats.
Json items_of(const std::vector<RunChange>& changes, const std::vector<Result<RunChanged>>& answers,
              const std::vector<bool>& repeated, const char* done, Timestamp now) {
  Json items = Json::array();
  for (std::size_t i = 0; i < answers.size(); ++i) {
    Json item = Json::object({{"id", changes[i].run.value}});
    if (!answers[i]) {
      item.set("outcome", "error");
      item.set("error", answers[i].error().message);
    } else if (repeated[i]) {
      item.set("outcome", done);
    } else if (answers[i]->kind == RunChanged::Kind::done) {
      item.set("outcome", done);
      const auto& until = answers[i]->row.lease_until;
      if (until) item.set("lease_ms", between(now, *until).ms_up());
    } else {
      const RunRow& row = answers[i]->row;
      const bool cancelled = row.status == RunStatus::cancelled && row.fence == changes[i].fence;
      item.set("outcome", cancelled ? "cancelled" : "lease_lost");
    }
    items.push_back(std::move(item));
  }
  return items;
}

void change_many(EngineCore& core, const Call& call, RunChange::Kind kind, const char* done) {
  auto changes = changes_of(call, kind);
  if (!changes) return call.reply(problem(changes.error()));
  // A repeated heartbeat needs no key: it extends the lease again.
  if (kind == RunChange::Kind::release) {
    for (RunChange& change : *changes) change.key = run_key(call.repeat_key, change.run, change.fence, done);
  }
  auto answers = core.store().change_runs(*changes);
  std::vector<bool> repeated(answers.size());
  Repeats repeats;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (!answers[i]) continue;
    if (auto known = is_repeated_release(core, (*changes)[i], *answers[i])) {
      repeated[i] = *known;
    } else {
      answers[i] = std::move(known).error();
      continue;
    }
    repeats.add(repeated[i], answers[i]->kind == RunChanged::Kind::done);
  }
  const bool partial = std::any_of(answers.begin(), answers.end(), [](const Result<RunChanged>& answer) {
    return !answer && may_report_again(answer.error());
  });
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (!answers[i] || repeated[i] || answers[i]->kind != RunChanged::Kind::lease_lost) continue;
    core.reports().incidents().lease_lost(answers[i]->row, (*changes)[i].fence, (*changes)[i].actor);
  }
  Json items = items_of(*changes, answers, repeated, done, core.store().now());
  call.reply(repeats.mark(items_response(std::move(items), partial)));
}

void heartbeat_many(EngineCore& core, const Call& call) { change_many(core, call, RunChange::Kind::heartbeat, "kept"); }

void release_many(EngineCore& core, const Call& call) { change_many(core, call, RunChange::Kind::release, released); }

// Reads {fence, result} or {fence, error: {class, code, message, details}, retry, delay}.
Result<RunReport> report_of(const Call& call, const Json& body, RunId run) {
  RunReport report;
  report.run = std::move(run);
  CAIRN_TRY(report.fence, fence_of(body));
  report.worker = holder_of(call);
  report.account = account_of(call);
  report.result = body["result"];
  const Json* const error = body.find("error");
  if (error == nullptr) return report;
  Failure failure;
  failure.failure_class = failure_class_from(error->text_or("class", "transport")).value_or(FailureClass::transport);
  failure.code = std::string(error->text_or("code", "failed"));
  failure.message = std::string(error->text_or("message", ""));
  failure.details = (*error)["details"];
  report.failure = std::move(failure);
  if (body["retry"].is_bool()) report.retry = body["retry"].as_bool();
  CAIRN_TRY(report.retry_after, duration_of(body, "delay"));
  return report;
}

void finish(EngineCore& core, const Call& call) {
  auto report = report_of(call, call.body, run_id_of(call));
  if (!report) return call.reply(problem(report.error()));
  core.reports().report_all({&*report, 1}, [&core, call, run = report->run](const auto& answers) {
    const Result<RunAnswer>& told = answers.front();
    if (!told) return call.reply(problem(told.error()));
    if (*told == RunAnswer::lease_lost) {
      return core.deliveries().defer([&core, call, run] {
        const auto row = core.store().find_run(run);
        call.reply(row && *row ? lease_lost(call, **row) : no_such_run(call));
      });
    }
    Response response = json_response(Json::object({{"id", run.value}, {"outcome", name_of(told->outcome)}}));
    if (told->repeated) response.headers.emplace_back(replayed_header, "true");
    call.reply(std::move(response));
  });
}

void finish_many(EngineCore& core, const Call& call) {
  std::vector<RunReport> reports;
  for (const Json& item : call.body["reports"].items()) {
    auto report = report_of(call, item, {std::string(item["id"].as_string())});
    if (!report) return call.reply(problem(with_context(report.error(), "reports/" + std::to_string(reports.size()))));
    reports.push_back(std::move(*report));
  }
  std::vector<std::string> ids;
  ids.reserve(reports.size());
  for (const RunReport& report : reports) ids.push_back(report.run.value);
  core.reports().report_all(reports, [ids = std::move(ids), reply = call.reply](const auto& answers) {
    Json items = Json::array();
    bool partial = false;
    Repeats repeats;
    for (std::size_t i = 0; i < answers.size(); ++i) {
      if (answers[i]) repeats.add(answers[i]->repeated, *answers[i] != RunAnswer::lease_lost);
      Json item = Json::object({{"id", ids[i]}, {"outcome", answers[i] ? name_of(answers[i]->outcome) : "error"}});
      if (!answers[i]) {
        item.set("error", answers[i].error().message);
        const bool retryable = may_report_again(answers[i].error());
        item.set("retryable", retryable);
        partial = partial || retryable;
      }
      items.push_back(std::move(item));
    }
    reply(repeats.mark(items_response(std::move(items), partial)));
  });
}

Done<Result<RunRow>> reply_with_run(const Call& call) {
  return [reply = call.reply](const Result<RunRow>& row) {
    reply(row ? json_response(document(*row)) : problem(row.error()));
  };
}

void cancel(EngineCore& core, const Call& call) {
  core.runs().cancel(run_id_of(call), actor_of(call), reply_with_run(call));
}

void remove_run(EngineCore& core, const Call& call) {
  const std::string reason(call.request.query_value("reason"));
  if (reason.empty()) {
    return call.reply(problem(400, "reason", "A reason is required", "add ?reason=…; it is stored with the run"));
  }
  core.runs().remove(run_id_of(call), reason, actor_of(call), reply_with_run(call));
}

// Only the holder of the lease and operators see the fence.
Json shown(const Call& call, const RunRow& row) {
  Json json = document(row);
  if (!call.identity.may(Permission::operate)) json.erase("fence");
  return json;
}

void list_runs(EngineCore& core, const Call& call) {
  RunFilter filter;
  filter.type_prefix = std::string(call.request.query_value("type"));
  if (const std::string_view instance = call.request.query_value("instance"); !instance.empty()) {
    filter.instance = InstanceId{std::string(instance)};
  }
  filter.deleted = call.request.query_value("deleted") == "true";
  if (const std::string_view status = call.request.query_value("status"); !status.empty()) {
    filter.status = run_status_from(status);
    if (!filter.status) {
      return call.reply(
          problem(400, "status", "Unknown status", "use pending, leased, succeeded, failed or cancelled"));
    }
  }
  const auto fetch = [&](const PageRequest& page) { return core.store().list_runs(filter, page); };
  call.reply(page_answer(call, fetch, [&call](const RunRow& row) { return shown(call, row); }));
}

void show_run(EngineCore& core, const Call& call) {
  const auto row = core.store().find_run(run_id_of(call));
  if (!row) return call.reply(problem(row.error()));
  call.reply(*row ? json_response(shown(call, **row)) : no_such_run(call));
}

void run_events(EngineCore& core, const Call& call) {
  const auto row = core.store().find_run(run_id_of(call));
  if (!row) return call.reply(problem(row.error()));
  if (!*row) return call.reply(no_such_run(call));
  const auto fetch = [&](const PageRequest& page) { return core.store().list_run_events(run_id_of(call), page); };
  call.reply(page_answer(call, fetch, [](const RunEvent& event) { return document(event); }));
}

// True for a few results: runs leased here need not be read back. A failure may require a write before the answer.
bool is_prompt_report(const Request& request) {
  constexpr std::size_t body_max = 1024;
  return request.body.size() <= body_max && request.header("idempotency-key").empty() &&
         request.body.find("\"error\"") == std::string::npos;
}

#define RUN_MEMBERS                                                                                     \
  R"("id":{"type":"string"},"type":{"type":"string","minLength":1,"maxLength":200},"payload":true,)"    \
  R"("idempotency_key":{"type":"string","maxLength":200},"priority":{"type":"integer"},)"               \
  R"("run_at":{"type":"string"},"delay":{"type":"string"},"timeout":{"type":"string"},)"                \
  R"("max_attempts":{"type":"integer","minimum":1,"maximum":1000000},)"                                 \
  R"("retry":{"type":"object","additionalProperties":false,"properties":{"backoff":{"type":"string"},)" \
  R"("cap":{"type":"string"},"factor":{"type":"number","minimum":1,"maximum":1000},)"                   \
  R"("jitter":{"type":"number","minimum":0,"maximum":1}}})"
#define RUN_SCHEMA \
  R"({"type":"object","required":["type"],"additionalProperties":false,"properties":{)" RUN_MEMBERS "}}"

constexpr std::string_view submit_schema = RUN_SCHEMA;
constexpr std::string_view submit_many_schema =
    R"({"type":"object","required":["runs"],"additionalProperties":false,"properties":{"runs":{"type":"array","maxItems":10000,"items":)" RUN_SCHEMA
    "}}}";
constexpr std::string_view lease_schema =
    R"({"type":"object","required":["worker"],"additionalProperties":false,"properties":{
  "worker":{"type":"string","minLength":1,"maxLength":200},
  "prefixes":{"type":"array","maxItems":100,"items":{"type":"string","minLength":1}},
  "types":{"type":"array","maxItems":1000,"items":{"type":"string","minLength":1}},
  "max":{"type":"integer","minimum":1,"maximum":1000},"wait":{"type":"string"},"lease":{"type":"string"}}})";
constexpr std::string_view heartbeat_schema =
    R"({"type":"object","required":["fence"],"additionalProperties":false,"properties":{
  "fence":{"type":"integer","minimum":0},"lease":{"type":"string"},"worker":{"type":"string"}}})";
#define CHANGED_MEMBERS \
  R"("id":{"type":"string","minLength":1},"fence":{"type":"integer","minimum":0},"lease":{"type":"string"})"
constexpr std::string_view change_many_schema =
    R"({"type":"object","required":["runs"],"additionalProperties":false,"properties":{"worker":{"type":"string"},
  "runs":{"type":"array","maxItems":1000,"items":{"type":"object","required":["id","fence"],
  "additionalProperties":false,"properties":{)" CHANGED_MEMBERS "}}}}}";
#undef CHANGED_MEMBERS
constexpr std::string_view complete_run_schema =
    R"({"type":"object","required":["fence"],"additionalProperties":false,"properties":{
  "fence":{"type":"integer","minimum":0},"result":true,"worker":{"type":"string"}}})";
#define ERROR_MEMBERS                                                                     \
  R"("error":{"type":"object","additionalProperties":false,"properties":{)"               \
  R"("class":{"enum":["transport","timeout","authorization","consistency","business"]},)" \
  R"("code":{"type":"string"},"message":{"type":"string"},"details":true}},)"             \
  R"("retry":{"type":"boolean"},"delay":{"type":"string"})"
constexpr std::string_view fail_schema =
    R"({"type":"object","required":["fence","error"],"additionalProperties":false,"properties":{
  "fence":{"type":"integer","minimum":0},"worker":{"type":"string"},)" ERROR_MEMBERS "}}";
constexpr std::string_view report_schema =
    R"({"type":"object","required":["reports"],"additionalProperties":false,"properties":{"worker":{"type":"string"},
  "reports":{"type":"array","maxItems":1000,"items":{"type":"object","required":["id","fence"],
  "additionalProperties":false,"properties":{"id":{"type":"string"},"fence":{"type":"integer","minimum":0},
  "result":true,)" ERROR_MEMBERS "}}}}}";
#undef RUN_MEMBERS
#undef RUN_SCHEMA
#undef ERROR_MEMBERS

}  // namespace

std::vector<Route> run_routes(EngineCore& core) {
  const auto with = [&core](void (*handle)(EngineCore&, const Call&)) {
    return [&core, handle](const Call& call) { handle(core, call); };
  };
  const auto scheduled = std::make_shared<std::atomic<bool>>(false);
  const auto prompt = [scheduled](const Request& request, const PathValues&) {
    return !*scheduled && is_prompt_report(request);
  };
  return {
      {"POST", "/v1/runs", Permission::start, "submitRun", "Submit a run on its own", with(submit), {}, submit_schema},
      {"POST",
       "/v1/runs/batch",
       Permission::start,
       "submitRuns",
       "Submit many runs in one transaction",
       with(submit_many),
       {},
       submit_many_schema},
      // Its answer is not kept: the leases in it end, or went back when it did not arrive.
      {"POST",
       "/v1/runs/lease",
       Permission::work_runs,
       "leaseRuns",
       "Lease runs; waits up to `wait` if there are none",
       [&core, scheduled](const Call& call) { lease(core, scheduled, call); },
       {},
       lease_schema,
       "application/json",
       true},
      {"POST",
       "/v1/runs/report",
       Permission::report_runs,
       "reportRuns",
       "Complete or fail many runs at once",
       with(finish_many),
       {},
       report_schema,
       "application/json",
       false,
       {},
       prompt},
      {"POST",
       "/v1/runs/heartbeat",
       Permission::report_runs,
       "heartbeatRuns",
       "Extend many leases; the answer tells which runs were cancelled",
       with(heartbeat_many),
       {},
       change_many_schema},
      {"POST",
       "/v1/runs/release",
       Permission::report_runs,
       "releaseRuns",
       "Release many runs unused",
       with(release_many),
       {},
       change_many_schema},
      {"POST",
       "/v1/runs/{id}/heartbeat",
       Permission::report_runs,
       "heartbeatRun",
       "Extend a lease; the answer tells whether the run was cancelled",
       with(heartbeat),
       {},
       heartbeat_schema},
      {"POST",
       "/v1/runs/{id}/complete",
       Permission::report_runs,
       "completeRun",
       "Report the result; the waiting instance continues in the same commit",
       with(finish),
       {},
       complete_run_schema,
       "application/json",
       false,
       {},
       prompt},
      {"POST",
       "/v1/runs/{id}/fail",
       Permission::report_runs,
       "failRun",
       "Report a failure; the run is retried while attempts are left, unless retry is false",
       with(finish),
       {},
       fail_schema},
      {"POST",
       "/v1/runs/{id}/release",
       Permission::report_runs,
       "releaseRun",
       "Release a run unused",
       with(release),
       {},
       heartbeat_schema},
      {"POST", "/v1/runs/{id}/cancel", Permission::operate, "cancelRun",
       "Cancel a run; its worker learns of it at the next heartbeat", with(cancel)},
      {"GET",
       "/v1/runs",
       Permission::view,
       "listRuns",
       "List runs, newest first",
       with(list_runs),
       {{"status", "pending, leased, succeeded, failed or cancelled"},
        {"type", "types that begin with this"},
        {"instance", "of one instance"},
        {"deleted", "true: include deleted runs"},
        {"limit", "maximum number of items"},
        {"cursor", "next_cursor of the previous page"}}},
      {"GET", "/v1/runs/{id}", Permission::view, "getRun", "One run", with(show_run)},
      {"GET",
       "/v1/runs/{id}/events",
       Permission::view,
       "getRunEvents",
       "The events of a run, oldest first",
       with(run_events),
       {{"limit", "maximum number of items"}, {"cursor", "next_cursor of the previous page"}}},
      {"DELETE",
       "/v1/runs/{id}",
       Permission::operate,
       "deleteRun",
       "Delete a run that is not leased; its key stays reserved",
       with(remove_run),
       {{"reason", "the reason; stored with the run"}}},
  };
}

}  // namespace cairn::api
