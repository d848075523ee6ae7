#include "api/api.h"
#include "api/documents.h"
#include "api/problem.h"

namespace cairn::api {
namespace {

void broadcast(EngineCore& core, const Call& call) {
  SignalRequest signal;
  signal.id = std::string(call.body.text_or("id", call.request.header("idempotency-key")));
  if (call.body.find("id") != nullptr && !is_caller_id(signal.id)) return call.reply(bad_id("the id of a signal"));
  signal.name = std::string(call.body["name"].as_string());
  signal.key = call.body["key"];
  signal.payload = call.body["payload"];
  signal.actor = actor_of(call);
  const auto ttl = parse_duration(call.body.text_or("ttl", "1d"));
  if (!ttl) {
    call.reply(problem(ttl.error()));
    return;
  }
  core.instances().broadcast(std::move(signal), *ttl, [reply = call.reply](const Result<SignalOutcome>& outcome) {
    if (!outcome) return reply(problem(outcome.error()));
    Response response = json_response(document(*outcome), 202);
    if (outcome->duplicate) response.headers.emplace_back(replayed_header, "true");
    reply(std::move(response));
  });
}

constexpr std::string_view signal_schema =
    R"({"type":"object","required":["name"],"additionalProperties":false,"properties":{
  "id":{"type":"string"},"name":{"type":"string"},"key":{"type":["string","null"]},"payload":true,"ttl":{"type":"string"}}})";

}  // namespace

std::vector<Route> signal_routes(EngineCore& core) {
  EngineCore* const with = &core;
  return {{"POST",
           "/v1/signals",
           Permission::start,
           "sendSignal",
           "Send a signal to all instances that wait for its name and key; otherwise it is buffered for ttl",
           [with](const Call& call) { broadcast(*with, call); },
           {},
           signal_schema}};
}

}  // namespace cairn::api
