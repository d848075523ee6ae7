#include "api/access/api_gate.h"

#include <algorithm>

#include "api/access/worker_scope.h"
#include "api/api.h"
#include "api/problem.h"
#include "base/sha256.h"
#include "engine/request_key.h"
#include "store/audit_scope.h"

namespace cairn::api {
namespace {

constexpr std::size_t key_length_max = 200;
constexpr std::string_view slow_lane_limit = "limits.requests_waiting_max";

bool changes(const Route& route) { return route.method != "GET"; }

bool is_for_workers(const Route& route) {
  return route.permission == Permission::work_runs || route.permission == Permission::report_runs;
}

// Spaces are forbidden: ids that the engine creates (hooks) contain one, so no caller can choose such an id.
bool is_key(std::string_view key) {
  return !key.empty() && key.size() <= key_length_max &&
         std::all_of(key.begin(), key.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

// What is wrong with the key of a request. It is optional, but a header without a key would be ignored.
std::string_view fault_of_key(const Request& request) {
  for (const auto& [name, value] : request.headers) {
    if (name != "idempotency-key") continue;
    if (value != request.header(name)) return "the request has two different Idempotency-Key headers";
    if (!is_key(value)) return "Idempotency-Key must have 1 to 200 visible ASCII characters, without spaces";
  }
  return {};
}

Response unauthenticated(std::string_view detail, std::string_view scheme) {
  Response response = problem(401, "unauthenticated", "Not authenticated", detail);
  response.headers.emplace_back("www-authenticate", scheme);
  return response;
}

// Two credentials of one person are one sender. Leases belong to a credential, and so do the answers about them.
std::string sender_of(const Route& route, const Call& call) {
  std::string sender = is_for_workers(route) ? std::string() : actor_of(call).sender;
  return sender.empty() ? call.identity.account : sender;
}

// Two requests with one hash are the same request. The headers of a CloudEvent are a part of what it says.
std::string request_hash(const Request& request) {
  Json parts = Json::array();
  for (const auto& [name, value] : request.query) parts.push_back(Json::array({name, value}));
  for (const auto& [name, value] : request.headers) {
    if (name.starts_with("ce-")) parts.push_back(Json::array({name, value}));
  }
  return sha256_hex(write_json(parts) + request.body);
}

// When the instance, task or run that the path names was created; empty if it names none or it does not exist. Callers
// choose ids of instances and may use them again, and ids of tasks and runs derive from them.
Result<std::string> creation_of(Store& store, const Route& route, const Call& call) {
  std::optional<Timestamp> created;
  if (route.path.starts_with("/v1/instances/{id}")) {
    CAIRN_TRY(const auto row, store.find_instance({std::string(call.at("id"))}));
    if (row) created = row->started_at;
  } else if (route.path.starts_with("/v1/tasks/{id}")) {
    CAIRN_TRY(const auto row, store.find_task({std::string(call.at("id"))}));
    if (row) created = row->created_at;
  } else if (route.path.starts_with("/v1/runs/{id}")) {
    CAIRN_TRY(const auto row, store.find_run({std::string(call.at("id"))}));
    if (row) created = row->created_at;
  }
  return created ? std::to_string(created->unix_ms()) : std::string();
}

void answer_repeat(const Reply& reply, Result<IdempotentAnswers::Known> known) {
  if (!known) return reply(problem(known.error()));
  switch (known->found) {
    case IdempotentAnswers::Found::repeat: return reply(std::move(known->answer));
    case IdempotentAnswers::Found::other_request:
      return reply(problem(422, "idempotency_key_reused", "This key was used for another request",
                           "use a new Idempotency-Key for a new request"));
    case IdempotentAnswers::Found::first:
    case IdempotentAnswers::Found::in_progress: break;
  }
}

}  // namespace

AuditRow audit_row(const Call& call, std::string what) {
  AuditRow row;
  row.who = call.identity.person;
  row.what = std::move(what);
  row.resource = call.request.path;
  row.why = reason_of(call);
  row.from = call.request.peer;
  row.details = Json::object({{"account", call.identity.account}, {"trace", call.trace.trace}});
  if (!call.identity.session.empty()) row.details.set("session", call.identity.session);
  return row;
}

bool ApiGate::admit(const Route& route, Call& call) {
  if (route.permission == Permission::open) return true;
  if (route.permission == Permission::signed_request) return admit_signed(route, call);
  auto identity = identify(call.request);
  if (!identity) {
    if (identity.error().code != ErrorCode::not_allowed) {
      call.reply(problem(identity.error()));
      return false;
    }
    metrics_->count_refusal("unauthenticated");
    call.reply(unauthenticated(identity.error().message, "Bearer"));
    return false;
  }
  call.identity = std::move(*identity);
  if (changes(route) && authenticator_.lacks_csrf_token(call.request)) {
    metrics_->count_refusal("csrf");
    call.reply(problem(403, "csrf", "The request does not come from the console",
                       "a change in a session needs the header X-Cairn-CSRF with `csrf` of GET /v1/session"));
    return false;
  }
  if (!within_limits(route, call)) return false;
  if (call.identity.may(route.permission) && call.identity.may_use(call.request.path)) return true;
  metrics_->count_refusal("forbidden");
  if (changes(route)) {
    AuditRow row = audit_row(call, std::string(route.operation));
    row.details.set("status", 403);
    audit_->add_refused(std::move(row));
  }
  call.reply(problem(403, "forbidden", "Not allowed",
                     std::string(route.operation) + " needs the permission " + to_string(route.permission)));
  return false;
}

bool ApiGate::admit_head(const Route& route, Call& call) {
  auto identity = identify(call.request);
  if (!identity || !identity->may(route.permission) || !identity->may_use(call.request.path) ||
      (changes(route) && authenticator_.lacks_csrf_token(call.request))) {
    return admit(route, call);
  }
  call.identity = std::move(*identity);
  return true;
}

// An identity found before the body arrived is valid as long as the authenticator would cache it.
Result<Identity> ApiGate::identify(const Request& request) {
  const KnownCaller* const known = request.caller.get();
  if (known != nullptr && std::chrono::steady_clock::now() < known->at + Authenticator::key_kept)
    return known->identity;
  return authenticator_.identify(request);
}

bool ApiGate::admit_signed(const Route& route, Call& call) {
  auto identity = route.identify(call.request);
  if (identity) {
    call.identity = std::move(*identity);
    return within_limits(route, call);
  }
  if (identity.error().code != ErrorCode::not_allowed) {
    call.reply(problem(identity.error()));
    return false;
  }
  metrics_->count_refusal("signature");
  call.reply(unauthenticated(identity.error().message, "Cairn-Signature"));
  return false;
}

bool ApiGate::within_limits(const Route& route, Call& call) {
  call.demand = demand_of(route.operation, call.request);
  call.answer_limits = limiter_.limits().answer;
  CallerLimiter::Admission admission = limiter_.admit(call.identity, call.demand);
  if (admission.refusal) {
    metrics_->count_refusal("limit");
    call.reply(std::move(*admission.refusal));
    return false;
  }
  if (call.demand != Demand::ordinary) hold(call, std::move(admission.permit));
  return true;
}

void ApiGate::hold(Call& call, std::shared_ptr<void> permit) {
  const bool lasts = call.demand == Demand::long_poll || call.demand == Demand::stream;
  std::function<bool()> accepted = lasts ? authenticator_.still_accepted(call.request) : std::function<bool()>();
  if (call.demand == Demand::stream) {
    call.reply = call.reply.through([permit = std::move(permit), accepted = std::move(accepted), watch = watch_,
                                     reply = call.reply](Response response) {
      if (response.stream) {
        response.stream = [begin = std::move(response.stream), permit, accepted, watch](const EventStream& stream) {
          stream.hold(permit);
          if (accepted) stream.hold(watch->add(accepted, [stream] { stream.close(); }));
          begin(stream);
        };
      }
      reply(std::move(response));
    });
    return;
  }
  std::shared_ptr<std::atomic<bool>> ended;
  std::shared_ptr<void> watched;
  if (accepted) {
    ended = std::make_shared<std::atomic<bool>>(false);
    watched = watch_->add(std::move(accepted), [ended, reply = call.reply] {
      ended->store(true);
      reply(unauthenticated("the credential is no longer valid", "Bearer"));
    });
  }
  call.reply = call.reply.through(
      [permit = std::move(permit), watched = std::move(watched), reply = call.reply](Response response) mutable {
        response.held = std::move(permit);
        watched.reset();
        reply(std::move(response));
      },
      std::move(ended));
}

bool ApiGate::prepare(const Route& route, Call& call) {
  if (!changes(route)) return true;
  if (const std::string_view fault = fault_of_key(call.request); !fault.empty()) {
    call.reply(problem(400, "idempotency_key", "Invalid Idempotency-Key", fault));
    return false;
  }
  if (is_for_workers(route)) {
    if (auto refusal = outside_scope(store_, call)) {
      metrics_->count_refusal("forbidden");
      call.reply(std::move(*refusal));
      return false;
    }
  }
  return route.method != "POST" || route.keeps_keys || remember(route, call);
}

bool ApiGate::remember(const Route& route, Call& call) {
  const std::string_view key = call.request.header("idempotency-key");
  if (key.empty()) return true;
  const std::string scope = sha256_hex(sender_of(route, call) + "\n" + std::string(route.operation) + "\n" +
                                       call.request.path + "\n" + std::string(key));
  const std::string hash = request_hash(call.request);
  const auto created = creation_of(store_, route, call);
  if (!created) {
    call.reply(problem(created.error()));
    return false;
  }
  Result<IdempotentAnswers::Known> known = answers_->begin(
      scope, hash,
      [reply = call.reply](Result<IdempotentAnswers::Known> later) { answer_repeat(reply, std::move(later)); },
      *created);
  if (!known || known->found != IdempotentAnswers::Found::first) {
    answer_repeat(call.reply, std::move(known));
    return false;
  }
  call.repeat_key = scope;
  call.reply = call.reply.through([answers = answers_, scope, hash, reply = call.reply](Response response) {
    // The answers live until this one is sent.
    answers->end(scope, hash, std::move(response), [answers, reply](Response answer) { reply(std::move(answer)); });
  });
  return true;
}

void ApiGate::carry_out(const Route& route, Call call) {
  if (call.demand != Demand::expensive) return handle(route, std::move(call));
  const auto shared = std::make_shared<Call>(std::move(call));  // a job must be copyable
  if (slow_lane_.submit([this, &route, shared] { handle(route, std::move(*shared)); })) return;
  shared->reply(limit_problem(503, slow_lane_limit, slow_lane_.queued_max(),
                              "too many diagrams, exports and searches are waiting"));
}

void ApiGate::handle(const Route& route, Call call) {
  std::vector<AuditRow> rows;
  // The events of a run record what workers do.
  const bool recorded = changes(route) && route.is_audited && !is_for_workers(route);
  if (recorded) {
    rows.push_back(audit_row(call, std::string(route.operation)));
    rows.back().at = store_.now();
  }
  // Shared with the pending answer, even without anything to audit: a commit may still need its trace.
  const auto audit_scope = std::make_shared<AuditScope>(rows, call.trace.header());
  if (recorded) {
    call.reply = call.reply.through(
        [audit = audit_, audit_scope, row = std::move(rows.front()), reply = call.reply](Response response) mutable {
          const bool refused = response.status >= 400;
          const bool written = audit_scope->take().empty();
          // Either nothing changed and no row was written, or the change and its row were written together.
          if (refused != written) {
            reply(std::move(response));
            return;
          }
          // The row was written but the call was refused, or the call succeeded without a transaction: a repeat.
          row.details.set("status", response.status);
          const auto answer = std::make_shared<Response>(std::move(response));
          audit->add(std::move(row), [reply, answer] { reply(std::move(*answer)); });
        });
  } else if (changes(route)) {
    call.reply =
        call.reply.through([audit_scope, reply = call.reply](Response response) { reply(std::move(response)); });
  }
  const AuditScope::Enter scope(*audit_scope);
  const RequestKey::Scope key(call.repeat_key);
  route.handle(std::move(call));
}

}  // namespace cairn::api
