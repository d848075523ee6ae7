// What operators do to one instance: cancel, suspend, resume, retry, skip, edit its state, discard a signal, delete it.
#include "api/if_match.h"
#include "api/instance_replies.h"
#include "api/precondition.h"

namespace cairn::api {
namespace {

void request(EngineCore& core, const Call& call, EventBody what) {
  const auto state_version = state_version_of(call);
  if (!state_version) {
    call.reply(problem(state_version.error()));
    return;
  }
  const auto done = [&core, id = id_of(call), reply = call.reply](const Result<InstanceAnswer>& answer) {
    if (!answer) return reply_to_refused(core, id, reply, answer.error());
    reply_with(reply, answer);
  };
  core.instances().request(id_of(call), std::move(what), actor_of(call), *state_version, done);
}

void remove_instance(EngineCore& core, const Call& call) {
  const auto state_version = state_version_of(call);
  if (!state_version) {
    call.reply(problem(state_version.error()));
    return;
  }
  if (*state_version) {
    // A final instance never changes again, so checking first is enough.
    const auto row = core.store().find_instance(id_of(call));
    if (row && *row && (*row)->state_version != **state_version) {
      reply_to_refused(
          core, id_of(call), call.reply,
          {ErrorCode::conflict, "stale_version: the instance is at " + std::to_string((*row)->state_version)});
      return;
    }
  }
  core.instances().remove(id_of(call), std::string(call.request.query_value("reason")),
                          [reply = call.reply](const Result<void>& removed) {
                            reply(removed ? Response(204, "application/json", {}, "") : problem(removed.error()));
                          });
}

constexpr std::string_view reason_schema =
    R"({"type":"object","additionalProperties":false,"properties":{"reason":{"type":"string"}}})";
constexpr std::string_view skip_schema =
    R"({"type":"object","additionalProperties":false,"properties":{"result":true,"reason":{"type":"string"}}})";
constexpr std::string_view retry_schema =
    R"({"type":"object","additionalProperties":false,"properties":{"reason":{"type":"string"},
  "new_key":{"type":"boolean","description":"a retried call gets a new idempotency key"}}})";
constexpr std::string_view patch_schema = R"({"type":"object"})";

}  // namespace

std::vector<Route> instance_operation_routes(EngineCore& core) {
  EngineCore* const with = &core;
  return {
      {"DELETE",
       "/v1/instances/{id}",
       Permission::operate,
       "deleteInstance",
       "Delete an ended instance from the lists",
       [with](const Call& call) { remove_instance(*with, call); },
       {{"reason", "why"}}},
      {"DELETE",
       "/v1/instances/{id}/signals/{signal}",
       Permission::operate,
       "discardSignal",
       "Discard a buffered signal of an instance",
       [with](const Call& call) {
         request(*with, call, SignalDiscarded{std::string(call.at("signal")), reason_of(call)});
       },
       {{"reason", "why"}}},
      {"POST",
       "/v1/instances/{id}/cancel",
       Permission::operate,
       "cancelInstance",
       "Cancel an instance and its children",
       [with](const Call& call) { request(*with, call, CancelRequested{reason_of(call)}); },
       {},
       reason_schema},
      {"POST",
       "/v1/instances/{id}/suspend",
       Permission::operate,
       "suspendInstance",
       "Suspend an instance",
       [with](const Call& call) { request(*with, call, SuspendRequested{reason_of(call)}); },
       {},
       reason_schema},
      {"POST",
       "/v1/instances/{id}/resume",
       Permission::operate,
       "resumeInstance",
       "Resume a suspended instance unchanged",
       [with](const Call& call) { request(*with, call, ResumeRequested{reason_of(call)}); },
       {},
       reason_schema},
      {"POST",
       "/v1/instances/{id}/retry",
       Permission::operate,
       "retryInstance",
       "Retry the failed step; a call keeps its idempotency key",
       [with](const Call& call) {
         request(*with, call, RetryRequested{call.body["new_key"] == Json(true), reason_of(call)});
       },
       {},
       retry_schema},
      {"POST",
       "/v1/instances/{id}/skip",
       Permission::operate,
       "skipStep",
       "Skip the failed step, with a result",
       [with](const Call& call) {
         request(*with, call, SkipRequested{call.body["result"], reason_of(call)});
       },
       {},
       skip_schema},
      {"PATCH",
       "/v1/instances/{id}/state",
       Permission::operate,
       "editState",
       "Merge a patch into the state of a suspended instance",
       [with](const Call& call) {
         request(*with, call, StateEdited{call.body, reason_of(call)});
       },
       {{"reason", "why"}},
       patch_schema},
  };
}

}  // namespace cairn::api
