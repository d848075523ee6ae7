// Incoming webhooks. They need no key: the signature identifies the sender.
#include "api/access/inbound_hook.h"
#include "api/api.h"
#include "api/documents.h"
#include "api/problem.h"
#include "base/log.h"
#include "outbox/cloud_event.h"
#include "outbox/signature.h"

namespace cairn::api {
namespace {

constexpr std::string_view place = "/v1/hooks/";
constexpr std::string_view account_prefix = "hook:";

using Hooks = std::shared_ptr<const std::vector<InboundHook>>;  // shared by the two functions of the route

const InboundHook* hook_of(const Hooks& hooks, const Request& request) {
  const std::string_view path = request.path;
  return path.starts_with(place) ? find_hook(*hooks, path.substr(place.size())) : nullptr;
}

// A signature is valid for one request, on all nodes and across restarts. It is consumed after the signals of the
// request are stored. After a crash in between it is still valid, and the stored signals are recognized by their ids.
constexpr const char* hook_key_scope = "hook";

std::string key_of(const InboundHook& hook, const Request& request) {
  return hook.name + " " + std::string(request.header(signature_header));
}

// No person can be this sender: senders that are persons begin with `person`.
std::string sender_of(const InboundHook& hook) { return "hook " + hook.name; }

Error used_before() { return {ErrorCode::not_allowed, "the signature was used before"}; }

Result<void> check_unspent(InstanceStore& store, const InboundHook& hook, const Request& request) {
  CAIRN_TRY(const auto known, store.find_key(hook_key_scope, key_of(hook, request)));
  if (known) return used_before();
  return {};
}

void spend(EngineCore& core, const InboundHook& hook, const Request& request, Done<Result<void>> done) {
  Unit unit;
  unit.key = IdempotencyKey{hook_key_scope, key_of(hook, request), "", Json()};
  core.deliveries().queue().submit(std::move(unit),
                                   [done = std::move(done)](const Result<CommitOutcome>& outcome, const Unit&) {
                                     if (!outcome) return done(outcome.error());
                                     switch (outcome->kind) {
                                       case CommitOutcome::Kind::done: return done({});
                                       case CommitOutcome::Kind::duplicate_key: return done(used_before());
                                       case CommitOutcome::Kind::failed: return done(outcome->error);
                                       case CommitOutcome::Kind::stale:
                                       case CommitOutcome::Kind::duplicate_signal: break;
                                     }
                                     done(Error{ErrorCode::internal, "the signature could not be stored"});
                                   });
}

// The answer does not tell the sender the reason.
Error refused(const InboundHook& hook, const Request& request, const Error& why) {
  log_warning("hook.refused", {{"hook", hook.name}, {"from", request.peer}, {"reason", why.message}});
  return {ErrorCode::not_allowed, "the signature is missing, wrong, too old, too new or was used before"};
}

Result<Identity> identify(EngineCore& core, const Hooks& hooks, const Request& request) {
  const InboundHook* const hook = hook_of(hooks, request);
  if (hook == nullptr) return Error{ErrorCode::not_found, "no such hook"};
  auto fine = check_signed(*hook, request, core.store().now());
  if (fine) fine = check_unspent(core.store(), *hook, request);
  if (!fine) return fine.error().code == ErrorCode::not_allowed ? refused(*hook, request, fine.error()) : fine.error();
  Identity identity;
  identity.account = identity.person = std::string(account_prefix) + hook->name;
  return identity;
}

// Of two concurrent identical requests the second is refused here; its signals were repeats.
Response not_spent(const InboundHook& hook, const Request& request, const Error& why) {
  if (why.code != ErrorCode::not_allowed) return problem(why);
  Response response = problem(401, "unauthenticated", "Not authenticated", refused(hook, request, why).message);
  response.headers.emplace_back("www-authenticate", "Cairn-Signature");
  return response;
}

void receive(EngineCore& core, const Hooks& hooks, const Call& call) {
  const InboundHook* const hook = hook_of(hooks, call.request);
  if (hook == nullptr) return call.reply(problem({ErrorCode::not_found, "no such hook"}));
  // Only the gate may set this account.
  if (call.identity.account != std::string(account_prefix) + hook->name) {
    return call.reply(problem(401, "unauthenticated", "Not authenticated", "the request is not signed"));
  }
  const auto signals = signals_of(*hook, call.request, core.context().options.limits.event_batch_max);
  if (!signals) return call.reply(problem(signals.error()));
  std::vector<SignalRequest> requests;
  for (std::size_t i = 0; i < signals->size(); ++i) {
    const HookSignal& one = (*signals)[i];
    SignalRequest& signal = requests.emplace_back();
    // Without an id, the signature and the position identify the signal.
    signal.id = one.id.empty() ? "signed " + key_of(*hook, call.request) + " " + std::to_string(i) : short_id(one.id);
    signal.name = one.name;
    signal.key = one.key;
    signal.payload = one.payload;
    signal.actor = {call.identity.account, {}, false, sender_of(*hook)};
  }
  // Signals stored before an error stay stored: when the request is sent again they are repeats.
  const auto received = std::make_shared<const Call>(call);
  for (SignalRequest& signal : requests) signal.ttl = hook->ttl;
  core.instances().broadcast_all(
      std::move(requests), [&core, hooks, hook, received](const Result<std::vector<SignalOutcome>>& outcomes) {
        if (!outcomes) return received->reply(problem(outcomes.error()));
        Json items = Json::array();
        for (const SignalOutcome& outcome : *outcomes) items.push_back(document(outcome));
        spend(core, *hook, received->request, [hooks, hook, received, items](const Result<void>& spent) {
          received->reply(spent ? json_response(Json::object({{"items", items}}), 202)
                                : not_spent(*hook, received->request, spent.error()));
        });
      });
}

}  // namespace

std::vector<Route> hook_routes(EngineCore& core, std::vector<InboundHook> given) {
  const Hooks hooks = std::make_shared<const std::vector<InboundHook>>(std::move(given));
  Route route{"POST",
              "/v1/hooks/{id}",
              Permission::signed_request,
              "receiveHook",
              "Receive a signed webhook: CloudEvents or one signal; each request is applied at most once",
              [&core, hooks](const Call& call) { receive(core, hooks, call); },
              {},
              {},
              "application/cloudevents+json, application/cloudevents-batch+json, application/json"};
  // The signature, which covers no Idempotency-Key, makes the request happen once.
  route.keeps_keys = true;
  route.identify = [&core, hooks](const Request& request) { return identify(core, hooks, request); };
  return {std::move(route)};
}

}  // namespace cairn::api
