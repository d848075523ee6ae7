#include <algorithm>
#include <charconv>
#include <span>

#include "api/api.h"
#include "api/body_members.h"
#include "api/documents.h"
#include "api/if_match.h"
#include "api/instance_replies.h"
#include "api/page_answer.h"
#include "api/precondition.h"
#include "api/problem.h"

namespace cairn::api {
namespace {

void send_signal(EngineCore& core, const Call& call) {
  SignalRequest signal;
  signal.id = std::string(call.body.text_or("id", call.request.header("idempotency-key")));
  if (call.body.find("id") != nullptr && !is_caller_id(signal.id)) return call.reply(bad_id("the id of a signal"));
  signal.name = std::string(call.body["name"].as_string());
  signal.key = call.body["key"];
  signal.payload = call.body["payload"];
  signal.actor = actor_of(call);
  const auto ttl = duration_of(call.body, "ttl");
  if (!ttl) return call.reply(problem(ttl.error()));
  signal.ttl = *ttl;
  core.instances().broadcast(std::move(signal), [reply = call.reply](const Result<SignalOutcome>& outcome) {
    if (!outcome) return reply(problem(outcome.error()));
    Response response = json_response(document(*outcome), 202);
    if (outcome->duplicate) response.headers.emplace_back(replayed_header, "true");
    reply(std::move(response));
  });
}

void signal_instance(EngineCore& core, const Call& call) {
  SignalRequest given;
  given.id = std::string(call.body.text_or("id", call.request.header("idempotency-key")));
  if (call.body.find("id") != nullptr && !is_caller_id(given.id)) return call.reply(bad_id("the id of a signal"));
  given.name = std::string(call.body["name"].as_string());
  given.key = call.body["key"];
  given.payload = call.body["payload"];
  given.actor = actor_of(call);
  const auto state_version = state_version_of(call);
  if (!state_version) return call.reply(problem(state_version.error()));
  given.state_version = *state_version;
  const auto ttl = duration_of(call.body, "ttl");
  if (!ttl) return call.reply(problem(ttl.error()));
  given.ttl = *ttl;
  core.instances().signal(id_of(call), given,
                          [&core, id = id_of(call), reply = call.reply](const Result<InstanceAnswer>& answer) {
                            if (!answer) return reply_to_refused(core, id, reply, answer.error());
                            reply_with(reply, answer);
                          });
}

// A signal needs the snapshot of its instance. The cache has it for instances that changed recently.
bool is_prompt_signal(EngineCore& core, const Request& request, const PathValues& path) {
  return request.header("idempotency-key").empty() && request.header("if-match").empty() &&
         core.instances().is_known_active({path.front().second});
}

// A cursor names the last signal of a page. That signal may be gone when the next page is read.
std::string cursor_after(const BufferedSignal& signal) { return format_timestamp(signal.at) + "/" + signal.id; }

// `kept` is in the order of arrival.
Result<std::span<const BufferedSignal>> signals_after(std::span<const BufferedSignal> kept, std::string_view cursor) {
  if (cursor.empty()) return kept;
  const auto at = parse_timestamp(cursor.substr(0, cursor.find('/')));
  if (!at) return Error{ErrorCode::invalid, "the cursor is not one that this list gave"};
  const auto last = std::find_if(kept.begin(), kept.end(),
                                 [&](const BufferedSignal& signal) { return cursor_after(signal) == cursor; });
  if (last != kept.end()) return std::span(last + 1, kept.end());
  return std::span(
      std::find_if(kept.begin(), kept.end(), [&](const BufferedSignal& signal) { return signal.at >= *at; }),
      kept.end());
}

// The signals that one instance keeps, oldest first; of an unknown instance none.
void list_signals_of_instance(EngineCore& core, const Call& call, const InstanceId& id) {
  const auto snapshot = core.store().find_snapshot(id);
  if (!snapshot) return call.reply(problem(snapshot.error()));
  const std::string_view name = call.request.query_value("name");
  const std::string_view key = call.request.query_value("key");
  const std::vector<BufferedSignal> kept = *snapshot ? (*snapshot)->signals : std::vector<BufferedSignal>();
  const auto fetch = [&](const PageRequest& page) -> Result<Page<BufferedSignal>> {
    CAIRN_TRY(const std::span<const BufferedSignal> rest, signals_after(kept, page.cursor));
    Page<BufferedSignal> found;
    for (const BufferedSignal& signal : rest) {
      if ((!name.empty() && signal.name != name) || (!key.empty() && signal.key != Json(key))) continue;
      if (found.items.size() == page.limit) {
        found.next_cursor = cursor_after(found.items.back());
        break;
      }
      found.items.push_back(signal);
    }
    return found;
  };
  call.reply(page_answer(call, fetch, [&id](const BufferedSignal& signal) {
    Json item = document(signal);
    item.set("instance", id.value);
    return item;
  }));
}

void list_kept_signals(EngineCore& core, const Call& call) {
  if (const std::string_view id = call.request.query_value("instance"); !id.empty()) {
    return list_signals_of_instance(core, call, {std::string(id)});
  }
  SignalFilter filter;
  filter.name = std::string(call.request.query_value("name"));
  if (const std::string_view key = call.request.query_value("key"); !key.empty()) filter.key = std::string(key);
  const auto fetch = [&](const PageRequest& page) { return core.store().list_signals(filter, page); };
  call.reply(page_answer(call, fetch, [](const KeptSignal& signal) { return document(signal); }));
}

void discard_kept_signal(EngineCore& core, const Call& call) {
  std::int64_t number = 0;
  const std::string_view text = call.at("number");
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool valid = read.ec == std::errc() && read.ptr == text.data() + text.size();
  const auto gone = valid ? core.store().discard_signal(number) : Result<bool>(false);
  if (!gone) return call.reply(problem(gone.error()));
  call.reply(*gone ? Response(204, "application/json", {}, "")
                   : problem({ErrorCode::not_found, "no signal " + std::string(text) + " is kept"}));
}

constexpr std::string_view signal_instance_schema =
    R"({"type":"object","required":["name"],"additionalProperties":false,"properties":{
  "id":{"type":"string"},"name":{"type":"string"},"key":{"type":["string","null"]},"payload":true,
  "ttl":{"type":"string","description":"how long it is kept if no step takes it; default: as the definition says, else for ever"}}})";
constexpr std::string_view send_signal_schema =
    R"({"type":"object","required":["name"],"additionalProperties":false,"properties":{
  "id":{"type":"string"},"name":{"type":"string"},"key":{"type":["string","null"]},"payload":true,
  "ttl":{"type":"string","description":"how long it is kept if no instance waits for it; default: as a definition says, else for ever"}}})";

}  // namespace

std::vector<Route> signal_routes(EngineCore& core) {
  EngineCore* const with = &core;
  return {{"GET",
           "/v1/signals",
           Permission::view,
           "listSignals",
           "Signals that no instance waits for yet; with `instance`, those that the instance keeps",
           [with](const Call& call) { list_kept_signals(*with, call); },
           {{"name", "only this name"},
            {"key", "only this key"},
            {"instance", "the signals that this instance keeps"},
            {"limit", "maximum number of items"},
            {"cursor", "next_cursor of the previous page"}}},
          {"POST",
           "/v1/signals",
           Permission::start,
           "sendSignal",
           "Send a signal to all instances that wait for its name and key; otherwise it is kept until one does",
           [with](const Call& call) { send_signal(*with, call); },
           {},
           send_signal_schema},
          {"POST",
           "/v1/instances/{id}/signals",
           Permission::start,
           "signalInstance",
           "Send a signal to one instance",
           [with](const Call& call) { signal_instance(*with, call); },
           {},
           signal_instance_schema,
           "application/json",
           false,
           {},
           [with](const Request& request, const PathValues& path) { return is_prompt_signal(*with, request, path); }},
          {"DELETE",
           "/v1/signals/{number}",
           Permission::operate,
           "discardKeptSignal",
           "Discard a signal that no instance waits for",
           [with](const Call& call) { discard_kept_signal(*with, call); },
           {{"reason", "why"}}}};
}

}  // namespace cairn::api
