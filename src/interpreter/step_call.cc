// Creates only the intent. The run is executed, retried and timed outside, and it answers with one final result. While
// it waits, the frame remembers the `visit` that named the run, and `key_visit` if the key is of an earlier visit.
// After an incident it remembers the same under `failed`: a retry by an operator keeps the key (call_keys.h).
#include "interpreter/call_keys.h"
#include "interpreter/steps.h"

namespace cairn {
namespace {

std::string run_type(const CallStep& call) {
  return call.transport == "worker" ? call.worker_type : "cairn." + call.transport + ".v1";
}

// An error of the call. If no lane handles it and it becomes an incident, the frame stays, so that a retry finds the
// visits of the failed call.
void fail(Turn& turn, const CallStep& call, Failure failure, Json failed) {
  const bool timed_out = failure.failure_class == FailureClass::timeout && call.on_timeout != no_index;
  if (timed_out || call.on_failure != no_index || failed.is_null()) {
    return turn.fail_to_lane(std::move(failure), call.on_timeout, call.on_failure);
  }
  turn.remember(Json::object({{"failed", std::move(failed)}}));
  turn.machine.make_ready(turn.strand);
  turn.machine.raise(turn.strand, std::move(failure));
}

// `failed` has the visits of the failed call that is retried; null: there is none.
void make_call(Turn& turn, const CallStep& call, const Json& failed) {
  Machine& machine = turn.machine;
  // A worker gets its payload unchanged. The payload holds no secrets (rule S29), so nothing must be separated.
  auto request = call.transport == "worker" ? turn.value(call.request, call.transport.c_str())
                                            : turn.sealed_value(call.request, call.transport.c_str());
  if (!request) return fail(turn, call, std::move(request).error(), failed);
  std::optional<Duration> timeout;
  if (call.timeout) {
    auto length = turn.duration(*call.timeout, "timeout");
    if (!length) return fail(turn, call, std::move(length).error(), failed);
    timeout = *length;
  }
  const std::string position = call_position(turn);
  const std::string digest = digest_for_try(turn, run_type(call), *request);
  const std::uint64_t visit = machine.next_number();
  const std::uint64_t before =
      digest.empty() || !failed.is_null() ? number_in(failed, "visit") : take_kept_visit(turn, position, digest);
  const bool keeps_key = before > 0 && !machine.wants_new_keys();
  const std::uint64_t earlier = number_in(failed, "key_visit");
  const std::uint64_t keyed_by = !keeps_key ? visit : earlier > 0 ? earlier : before;
  RunIntent run;
  run.id.value = derived_uuid(machine.snapshot().instance.value, "run", visit);
  run.step = turn.step.id;
  run.type = run_type(call);
  run.idempotency_key = position + "/" + std::to_string(keyed_by);
  run.payload = std::move(request).value();
  run.attempts_max = call.retry.attempts;
  run.backoff = call.retry.backoff;
  run.factor = call.retry.factor;
  run.cap = call.retry.cap;
  run.jitter = call.retry.jitter;
  run.timeout = timeout;
  Wait wait;
  wait.kind = WaitKind::run;
  wait.step = turn.step.id;
  wait.name = run.type;
  wait.target = run.id.value;
  Json data = Json::object({{"visit", static_cast<std::int64_t>(visit)}});
  if (keyed_by != visit) data.set("key_visit", static_cast<std::int64_t>(keyed_by));
  if (!digest.empty()) data.set("request", digest);
  turn.remember(std::move(data));
  run.token = machine.open_wait(turn.strand, std::move(wait));
  machine.out().runs.push_back(std::move(run));
  turn.rest();
}

}  // namespace

void begin(Turn& turn, const CallStep& call) { make_call(turn, call, {}); }

void woken(Turn& turn, const CallStep& call, Wakening&& wakening) {
  if (wakening.failure) {
    Failure failure = turn.failure(wakening.failure->failure_class, std::move(wakening.failure->code),
                                   std::move(wakening.failure->message), std::move(wakening.failure->details));
    failure.attempt = wakening.failure->attempt;
    return fail(turn, call, std::move(failure), number_in(turn.data(), "visit") > 0 ? turn.data() : Json());
  }
  if (turn.take_result(call.result, std::move(wakening.payload), call.on_failure)) turn.end();
}

void resume(Turn& turn, const CallStep& call) {
  if (const Json* failed = turn.data().find("failed")) return make_call(turn, call, Json(*failed));
  const Json* arrived = turn.kept_result();
  if (!arrived) return turn.rest();
  if (turn.take_result(call.result, *arrived)) turn.end();
}

}  // namespace cairn
