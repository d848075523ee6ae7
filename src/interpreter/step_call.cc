// Creates only the intent. The run is executed, retried and timed outside, and it answers with one final result.
#include "interpreter/steps.h"

namespace cairn {
namespace {

std::string run_type(const CallStep& call) {
  return call.transport == "worker" ? call.worker_type : "cairn." + call.transport + ".v1";
}

// Derived from the position of the step (instance, place, rounds of the enclosing loops) and from the visit, never from
// the attempt.
std::string idempotency_key(Turn& turn, std::uint64_t visit) {
  std::string key = turn.machine.snapshot().instance.value + "/" + turn.step.path;
  const Program& program = turn.machine.program();
  std::vector<const ActiveStrand*> chain;
  for (const ActiveStrand* at = &turn.strand; at; at = turn.machine.find_strand(at->parent)) chain.push_back(at);
  for (auto strand = chain.rbegin(); strand != chain.rend(); ++strand) {
    for (const ActiveFrame& frame : (*strand)->frames) {
      if (frame.kind != ActiveFrame::Kind::step) continue;
      if (!std::holds_alternative<RepeatStep>(program.steps[frame.index].body)) continue;
      const Json& round = frame.data["index"];
      key += "#" + std::to_string(round.is_integer() ? round.as_integer() : 0);
    }
  }
  return key + "/" + std::to_string(visit);
}

}  // namespace

void begin(Turn& turn, const CallStep& call) {
  Machine& machine = turn.machine;
  // A worker gets its payload unchanged. The payload holds no secrets (rule S29), so nothing must be separated.
  auto request = call.transport == "worker" ? turn.value(call.request, call.transport.c_str())
                                            : turn.sealed_value(call.request, call.transport.c_str());
  if (!request) return turn.fail_to_lane(std::move(request).error(), call.on_timeout, call.on_failure);
  std::optional<Duration> timeout;
  if (call.timeout) {
    auto length = turn.duration(*call.timeout, "timeout");
    if (!length) return turn.fail_to_lane(std::move(length).error(), call.on_timeout, call.on_failure);
    timeout = *length;
  }
  const std::uint64_t visit = machine.next_number();
  RunIntent run;
  run.id.value = derived_uuid(machine.snapshot().instance.value, "run", visit);
  run.step = turn.step.id;
  run.type = run_type(call);
  run.idempotency_key = idempotency_key(turn, visit);
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
  turn.remember({});
  run.token = machine.open_wait(turn.strand, std::move(wait));
  machine.out().runs.push_back(std::move(run));
  turn.rest();
}

void woken(Turn& turn, const CallStep& call, Wakening&& wakening) {
  if (wakening.failure) {
    Failure failure = turn.failure(wakening.failure->failure_class, std::move(wakening.failure->code),
                                   std::move(wakening.failure->message), std::move(wakening.failure->details));
    failure.attempt = wakening.failure->attempt;
    return turn.fail_to_lane(std::move(failure), call.on_timeout, call.on_failure);
  }
  if (turn.take_result(call.result, std::move(wakening.payload), call.on_failure)) turn.end();
}

void resume(Turn& turn, const CallStep& call) {
  const Json* arrived = turn.kept_result();
  if (!arrived) return turn.rest();
  if (turn.take_result(call.result, *arrived)) turn.end();
}

}  // namespace cairn
