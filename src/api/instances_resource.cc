#include <charconv>

#include "api/api.h"
#include "api/documents.h"
#include "api/instance_replies.h"
#include "api/instance_waiters.h"
#include "api/problem.h"
#include "instance/snapshot.h"

namespace cairn::api {
namespace {

// Marks the answer to a repeated request with a header.
Reply replaying(const Reply& reply) {
  return reply.through([reply](Response response) {
    response.headers.emplace_back(replayed_header, "true");
    reply(std::move(response));
  });
}

void show_instance(const Reply& reply, const InstanceRow& row, const Json& answer, int status) {
  Response response = json_response(answer, status);
  response.headers.emplace_back("etag", "\"" + std::to_string(row.state_version) + "\"");
  reply(std::move(response));
}

void show_instance(EngineCore& core, const Reply& reply, const InstanceRow& row, int status) {
  const auto snapshot = core.store().find_snapshot(row.id);
  Json answer = snapshot && *snapshot ? document(row, **snapshot) : document(row);
  if (!snapshot) answer.set("snapshot_error", snapshot.error().message);
  if (snapshot && *snapshot) add_retrying(core.store(), **snapshot, answer);
  show_instance(reply, row, answer, status);
}

void show_instance(EngineCore& core, const Call& call, const InstanceId& id) {
  const auto row = core.store().find_instance(id);
  if (!row || !*row) {
    call.reply(row ? problem({ErrorCode::not_found, "no instance " + id.value}) : problem(row.error()));
    return;
  }
  show_instance(core, call.reply, **row, 200);
}

// Answers with the instance after a wait.
Done<Result<InstanceWaiters::Seen>> shown(EngineCore& core, const Reply& reply, int status) {
  return [&core, reply, status](const Result<InstanceWaiters::Seen>& seen) {
    if (!seen) return reply(problem(seen.error()));
    if (seen->snapshot == nullptr) return show_instance(core, reply, seen->row, status);
    show_instance(reply, seen->row, document(seen->row, *seen->snapshot), status);
  };
}

// `?wait=30s`: how long to wait for the end; empty if absent.
Result<std::optional<std::chrono::milliseconds>> wait_of(const Call& call) {
  const std::string_view text = call.request.query_value("wait");
  if (text.empty()) return std::optional<std::chrono::milliseconds>();
  CAIRN_TRY(const Duration given, parse_duration(text));
  constexpr std::int64_t wait_ms_max = 60'000;
  return std::optional(std::chrono::milliseconds(std::min(given.ms_up(), wait_ms_max)));
}

void start(EngineCore& core, const std::shared_ptr<InstanceWaiters>& waiters, const Call& call) {
  StartRequest request;
  request.definition = std::string(call.body["definition"].as_string());
  if (const Json* version = call.body.find("version")) request.version = std::string(version->as_string());
  if (const Json* input = call.body.find("input")) request.input = *input;
  if (const Json* reference = call.body.find("reference")) {
    request.reference =
        Reference{(*reference)["key"], reference->find("parts") ? (*reference)["parts"] : Json::object()};
  }
  request.id = std::string(call.body.text_or("id", ""));
  if (call.body.find("id") != nullptr && !is_caller_id(request.id)) return call.reply(bad_id("the id of an instance"));
  request.idempotency_key = std::string(call.request.header("idempotency-key"));
  request.actor = actor_of(call);
  request.traceparent = call.trace.carried();
  const auto wait = wait_of(call);
  if (!wait) {
    call.reply(problem(wait.error()));
    return;
  }
  // No thread waits: the commit or InstanceWaiters answers.
  core.instances().start(std::move(request), [&core, waiters, first = call.reply, wait = *wait,
                                              held = call.body_held](Result<InstanceAnswer> answer) mutable {
    const Reply reply = answer && answer->repeated ? replaying(first) : first;
    if (answer) answer->repeated = false;
    held.reset();
    if (!answer || !wait || is_final(answer->status) || answer->gone) return reply_with(reply, answer, 201);
    waiters->wait(answer->instance, *wait, shown(core, reply, 201));
  });
}

// `?after=7&wait=30s`: answers when the state version exceeds 7, the instance has ended, or the time is over.
void get(EngineCore& core, const std::shared_ptr<InstanceWaiters>& waiters, const Call& call) {
  const auto wait = wait_of(call);
  if (!wait) {
    call.reply(problem(wait.error()));
    return;
  }
  const std::string_view text = call.request.query_value("after");
  std::uint64_t after = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), after);
  if (!text.empty() && (read.ec != std::errc() || read.ptr != text.data() + text.size())) {
    call.reply(
        problem(400, "state_version", "Invalid state version", "`after` must be a state_version, for example 7"));
    return;
  }
  if (!*wait) {
    show_instance(core, call, id_of(call));
    return;
  }
  Done<Result<InstanceWaiters::Seen>> done = shown(core, call.reply, 200);
  if (text.empty()) {
    waiters->wait(id_of(call), **wait, std::move(done));
  } else {
    waiters->wait_for_change(id_of(call), after, **wait, std::move(done));
  }
}

// A key requires a lookup in the store.
bool is_prompt_start(const Request& request) { return request.header("idempotency-key").empty(); }

constexpr std::string_view start_schema =
    R"({"type":"object","required":["definition"],"additionalProperties":false,"properties":{
  "definition":{"type":"string"},"version":{"type":"string"},"input":true,"id":{"type":"string"},
  "reference":{"type":"object","additionalProperties":false,"properties":{"key":{"type":["string","null"]},"parts":{"type":"object"}}}}})";

}  // namespace

std::vector<Route> instance_routes(EngineCore& core, std::shared_ptr<InstanceWaiters> waiters) {
  EngineCore* const with = &core;
  return {
      {"POST",
       "/v1/instances",
       Permission::start,
       "startInstance",
       "Start an instance",
       [with, waiters](const Call& call) { start(*with, waiters, call); },
       {{"wait", "wait for the end, at most this long"}},
       start_schema,
       "application/json",
       true,
       {},
       [](const Request& request, const PathValues&) { return is_prompt_start(request); }},
      {"GET",
       "/v1/instances/{id}",
       Permission::view,
       "getInstance",
       "One instance with its state and waits",
       [with, waiters](const Call& call) { get(*with, waiters, call); },
       {{"wait", "wait until it has ended or is suspended, at most this long"},
        {"after", "with `wait`: also answer when its state_version exceeds this"}}},
  };
}

}  // namespace cairn::api
