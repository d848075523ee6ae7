#include <charconv>

#include "api/api.h"
#include "api/documents.h"
#include "api/filter_text.h"
#include "api/instance_waiters.h"
#include "api/page_answer.h"
#include "api/problem.h"
#include "instance/snapshot.h"

namespace cairn::server {
namespace {

InstanceId id_of(const Call& call) { return {std::string(call.at("id"))}; }

void reply_with(const Reply& reply, const Result<InstanceAnswer>& answer, int status = 200) {
  if (!answer) {
    reply(problem(answer.error()));
    return;
  }
  Response response = json_response(document(*answer), status);
  response.headers.emplace_back("etag", "\"" + std::to_string(answer->version) + "\"");
  if (answer->repeated) response.headers.emplace_back(replayed_header, "true");
  reply(std::move(response));
}

// Marks the answer to a repeated request with a header.
Reply replaying(const Reply& reply) {
  return reply.through([reply](Response response) {
    response.headers.emplace_back(replayed_header, "true");
    reply(std::move(response));
  });
}

void show(const Reply& reply, const InstanceRow& row, const Json& answer, int status) {
  Response response = json_response(answer, status);
  response.headers.emplace_back("etag", "\"" + std::to_string(row.version) + "\"");
  reply(std::move(response));
}

void show(EngineCore& core, const Reply& reply, const InstanceRow& row, int status) {
  const auto snapshot = core.store().find_snapshot(row.id);
  Json answer = snapshot && *snapshot ? document(row, **snapshot) : document(row);
  if (!snapshot) answer.set("snapshot_error", snapshot.error().message);
  show(reply, row, answer, status);
}

void show(EngineCore& core, const Call& call, const InstanceId& id) {
  const auto row = core.store().find_instance(id);
  if (!row || !*row) {
    call.reply(row ? problem({ErrorCode::not_found, "no instance " + id.value}) : problem(row.error()));
    return;
  }
  show(core, call.reply, **row, 200);
}

// Answers with the instance after a wait.
InstanceWaiters::Answer shown(EngineCore& core, const Reply& reply, int status) {
  return [&core, reply, status](const Result<InstanceWaiters::Seen>& seen) {
    if (!seen) return reply(problem(seen.error()));
    if (seen->snapshot == nullptr) return show(core, reply, seen->row, status);
    show(reply, seen->row, document(seen->row, *seen->snapshot), status);
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

void start(EngineCore& core, const std::shared_ptr<InstanceWaiters>& desk, const Call& call) {
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
  core.instances().start(std::move(request),
                         [&core, desk, first = call.reply, wait = *wait](Result<InstanceAnswer> answer) {
                           const Reply reply = answer && answer->repeated ? replaying(first) : first;
                           if (answer) answer->repeated = false;
                           if (!answer || !wait || is_final(answer->status)) {
                             reply_with(reply, answer, 201);
                             return;
                           }
                           desk->wait(answer->instance, *wait, shown(core, reply, 201));
                         });
}

// `?after=7&wait=30s`: answers when the state version exceeds 7, the instance has ended, or the time is over.
void get(EngineCore& core, const std::shared_ptr<InstanceWaiters>& desk, const Call& call) {
  const auto wait = wait_of(call);
  if (!wait) {
    call.reply(problem(wait.error()));
    return;
  }
  const std::string_view text = call.request.query_value("after");
  std::uint64_t after = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), after);
  if (!text.empty() && (read.ec != std::errc() || read.ptr != text.data() + text.size())) {
    call.reply(problem(400, "version", "Invalid version", "`after` must be a state_version, for example 7"));
    return;
  }
  if (!*wait) {
    show(core, call, id_of(call));
    return;
  }
  InstanceWaiters::Answer answer = shown(core, call.reply, 200);
  if (text.empty()) {
    desk->wait(id_of(call), **wait, std::move(answer));
  } else {
    desk->wait_for_change(id_of(call), after, **wait, std::move(answer));
  }
}

void list(EngineCore& core, const Call& call) {
  InstanceFilter filter;
  filter.definition = std::string(call.request.query_value("definition"));
  filter.reference_key = std::string(call.request.query_value("reference"));
  if (const std::string_view status = call.request.query_value("status"); !status.empty()) {
    filter.status = status_from(status);
    if (!filter.status) {
      call.reply(
          problem(400, "status", "Unknown status", "use running, waiting, suspended, completed, failed or cancelled"));
      return;
    }
  }
  filter.version = std::string(call.request.query_value("version"));
  filter.text = std::string(call.request.query_value("q"));
  if (const std::string_view parent = call.request.query_value("parent"); !parent.empty()) {
    filter.parent = InstanceId{std::string(parent)};
  }
  for (const auto& [name, value] : call.request.query) {
    if (name != "part") continue;
    const std::size_t colon = value.find(':');
    if (colon == std::string::npos || colon == 0) {
      call.reply(problem(400, "part", "Invalid reference part", "use part=NAME:VALUE, for example part=customer:C1"));
      return;
    }
    filter.reference_parts.emplace_back(value.substr(0, colon), value.substr(colon + 1));
  }
  if (const auto read = read_filter(call.request.query_value("filter"), filter); !read) {
    call.reply(problem(400, "filter", "The filter cannot be read", read.error().message));
    return;
  }
  if (const auto fits = check_search(filter.text); !fits) {
    call.reply(problem(fits.error()));
    return;
  }
  for (const auto& [name, field] : {std::pair{"from", &filter.started_from}, std::pair{"to", &filter.started_to}}) {
    const std::string_view text = call.request.query_value(name);
    if (text.empty()) continue;
    const auto at = parse_timestamp(text);
    if (!at) {
      call.reply(problem(400, "time", "Invalid time", at.error().message));
      return;
    }
    *field = *at;
  }
  const auto fetch = [&](const PageRequest& page) { return core.store().list_instances(filter, page); };
  call.reply(page_answer(call, fetch, [](const InstanceRow& row) { return document(row); }));
}

// 412 with the current state version.
void reply_moved(EngineCore& core, const Call& call, const Error& error) {
  Response response = problem(error);
  const auto row = core.store().find_instance(id_of(call));
  if (row && *row) response.headers.emplace_back("etag", "\"" + std::to_string((*row)->version) + "\"");
  call.reply(std::move(response));
}

void request(EngineCore& core, const Call& call, EventBody what) {
  const auto version = version_of(call);
  if (!version) {
    call.reply(problem(version.error()));
    return;
  }
  const auto done = [&core, call, seen = version->has_value()](const Result<InstanceAnswer>& answer) {
    if (answer || !seen) return reply_with(call.reply, answer);
    core.deliveries().defer([&core, call, error = answer.error()] { reply_moved(core, call, error); });
  };
  core.instances().request(id_of(call), std::move(what), actor_of(call), *version, done);
}

// What the engine resumes from, for troubleshooting.
void snapshot(EngineCore& core, const Call& call) {
  const auto found = core.store().find_snapshot(id_of(call));
  if (!found || !*found) {
    call.reply(found ? problem({ErrorCode::not_found, "no instance " + std::string(call.at("id"))})
                     : problem(found.error()));
    return;
  }
  Response response = json_response(document(**found));
  response.headers.emplace_back("etag", "\"" + std::to_string((*found)->version) + "\"");
  call.reply(std::move(response));
}

void remove(EngineCore& core, const Call& call) {
  const auto version = version_of(call);
  if (!version) {
    call.reply(problem(version.error()));
    return;
  }
  if (*version) {
    // A final instance never changes again, so checking first is enough.
    const auto row = core.store().find_instance(id_of(call));
    if (row && *row && (*row)->version != **version) {
      reply_moved(core, call,
                  {ErrorCode::conflict, "stale_version: the instance is at " + std::to_string((*row)->version)});
      return;
    }
  }
  const auto done = core.instances().remove(id_of(call), std::string(call.request.query_value("reason")));
  call.reply(done ? Response(204, "application/json", {}, "") : problem(done.error()));
}

void signal(EngineCore& core, const Call& call) {
  SignalRequest given;
  given.id = std::string(call.body.text_or("id", call.request.header("idempotency-key")));
  if (call.body.find("id") != nullptr && !is_caller_id(given.id)) return call.reply(bad_id("the id of a signal"));
  given.name = std::string(call.body["name"].as_string());
  given.key = call.body["key"];
  given.payload = call.body["payload"];
  given.actor = actor_of(call);
  core.instances().signal(id_of(call), given,
                          [reply = call.reply](const Result<InstanceAnswer>& answer) { reply_with(reply, answer); });
}

void history(EngineCore& core, const Call& call) {
  const auto fetch = [&](const PageRequest& page) { return core.store().history(id_of(call), page); };
  call.reply(page_answer(call, fetch, [](const HistoryRow& row) { return document(row); }));
}

// A key requires a lookup in the store.
bool is_prompt_start(const Request& request) { return request.header("idempotency-key").empty(); }

// What one instance is told needs its snapshot, which is at hand for those that moved lately.
bool is_prompt_signal(EngineCore& core, const Request& request, const PathValues& path) {
  return request.header("idempotency-key").empty() && core.instances().goes_on({path.front().second});
}

constexpr std::string_view start_schema =
    R"({"type":"object","required":["definition"],"additionalProperties":false,"properties":{
  "definition":{"type":"string"},"version":{"type":"string"},"input":true,"id":{"type":"string"},
  "reference":{"type":"object","additionalProperties":false,"properties":{"key":{"type":["string","null"]},"parts":{"type":"object"}}}}})";
constexpr std::string_view signal_schema =
    R"({"type":"object","required":["name"],"additionalProperties":false,"properties":{
  "id":{"type":"string"},"name":{"type":"string"},"key":{"type":["string","null"]},"payload":true}})";
constexpr std::string_view reason_schema =
    R"({"type":"object","additionalProperties":false,"properties":{"reason":{"type":"string"}}})";
constexpr std::string_view skip_schema =
    R"({"type":"object","additionalProperties":false,"properties":{"result":true}})";
constexpr std::string_view patch_schema = R"({"type":"object"})";

}  // namespace

std::vector<Route> instance_routes(EngineCore& core, std::shared_ptr<InstanceWaiters> desk) {
  EngineCore* const with = &core;
  const auto reason = [](const Call& call) { return std::string(call.body.text_or("reason", "")); };
  return {
      {"POST",
       "/v1/instances",
       Permission::start,
       "startInstance",
       "Start an instance",
       [with, desk](const Call& call) { start(*with, desk, call); },
       {{"wait", "wait for the end, at most this long"}},
       start_schema,
       "application/json",
       true,
       {},
       [](const Request& request, const PathValues&) { return is_prompt_start(request); }},
      {"GET",
       "/v1/instances",
       Permission::view,
       "listInstances",
       "List instances, newest first",
       [with](const Call& call) { list(*with, call); },
       {{"status", "one status"},
        {"definition", "a name"},
        {"version", "of the definition"},
        {"reference", "a reference key"},
        {"part", "NAME:VALUE, a part of the reference (repeatable)"},
        {"parent", "children of this instance"},
        {"q", "text in the id, the definition or the reference"},
        {"filter", "status:suspended part.customer:C1 …, the same language as on the command line"},
        {"from", "started at or after"},
        {"to", "started before"},
        {"limit", "maximum number of items"},
        {"cursor", "next_cursor of the previous page"}}},
      {"GET",
       "/v1/instances/{id}",
       Permission::view,
       "getInstance",
       "One instance with its state and waits",
       [with, desk](const Call& call) { get(*with, desk, call); },
       {{"wait", "wait until it has ended or is suspended, at most this long"},
        {"after", "with `wait`: also answer when its state_version exceeds this"}}},
      {"GET",
       "/v1/instances/{id}/history",
       Permission::view,
       "getHistory",
       "The history of an instance, oldest first",
       [with](const Call& call) { history(*with, call); },
       {{"limit", "maximum number of items"}, {"cursor", "next_cursor of the previous page"}}},
      {"GET", "/v1/instances/{id}/snapshot", Permission::view, "getSnapshot",
       "The snapshot that the engine resumes from", [with](const Call& call) { snapshot(*with, call); }},
      {"DELETE",
       "/v1/instances/{id}",
       Permission::operate,
       "deleteInstance",
       "Delete an ended instance from the lists",
       [with](const Call& call) { remove(*with, call); },
       {{"reason", "why"}}},
      {"POST",
       "/v1/instances/{id}/signals",
       Permission::start,
       "signalInstance",
       "Send a signal to one instance",
       [with](const Call& call) { signal(*with, call); },
       {},
       signal_schema,
       "application/json",
       false,
       {},
       [with](const Request& request, const PathValues& path) { return is_prompt_signal(*with, request, path); }},
      {"DELETE", "/v1/instances/{id}/signals/{signal}", Permission::operate, "discardSignal",
       "Discard a buffered signal of an instance",
       [with](const Call& call) { request(*with, call, SignalDiscarded{std::string(call.at("signal"))}); }},
      {"POST",
       "/v1/instances/{id}/cancel",
       Permission::operate,
       "cancelInstance",
       "Cancel an instance and its children",
       [with, reason](const Call& call) { request(*with, call, CancelRequested{reason(call)}); },
       {},
       reason_schema},
      {"POST",
       "/v1/instances/{id}/suspend",
       Permission::operate,
       "suspendInstance",
       "Suspend an instance",
       [with, reason](const Call& call) { request(*with, call, SuspendRequested{reason(call)}); },
       {},
       reason_schema},
      {"POST", "/v1/instances/{id}/resume", Permission::operate, "resumeInstance",
       "Resume a suspended instance unchanged", [with](const Call& call) { request(*with, call, ResumeRequested{}); }},
      {"POST", "/v1/instances/{id}/retry", Permission::operate, "retryInstance", "Retry the failed step",
       [with](const Call& call) { request(*with, call, RetryRequested{}); }},
      {"POST",
       "/v1/instances/{id}/skip",
       Permission::operate,
       "skipStep",
       "Skip the failed step, with a result",
       [with](const Call& call) { request(*with, call, SkipRequested{call.body["result"]}); },
       {},
       skip_schema},
      {"PATCH",
       "/v1/instances/{id}/state",
       Permission::operate,
       "editState",
       "Merge a patch into the state of a suspended instance",
       [with](const Call& call) { request(*with, call, StateEdited{call.body}); },
       {},
       patch_schema},
  };
}

}  // namespace cairn::server
