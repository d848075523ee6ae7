#include "interpreter/steps.h"
#include "interpreter/waiting.h"

namespace cairn {
namespace {

void receive(Turn& turn, const SignalStep& step, Json payload) {
  turn.arrived = payload;
  if (turn.take_result(step.signal.result, std::move(payload))) turn.end();
}

void time_out(Turn& turn, const SignalStep& step) {
  turn.machine.abandon_waits(turn.strand);
  Failure failure = turn.failure(FailureClass::timeout, "signal_timeout",
                                 "signal " + step.signal.name + " did not come in time (" + turn.step.path + ")");
  turn.fail_to_lane(std::move(failure), step.signal.on_timeout, no_index);
}

}  // namespace

void begin(Turn& turn, const SignalStep& step) {
  CAIRN_OR_FAIL(turn, Json key, signal_key(turn, step.signal));
  std::optional<Json> kept = take_kept_signal(turn, step.signal, key);
  if (kept) return receive(turn, step, std::move(*kept));
  std::optional<Timestamp> until;
  if (step.signal.timeout) {
    CAIRN_OR_FAIL(turn, until, turn.after(*step.signal.timeout, "timeout"));
  }
  turn.remember({});
  if (until && *until <= turn.machine.now()) return time_out(turn, step);
  open_signal(turn, step.signal, std::move(key));
  if (until) turn.open_timer(*until);
  turn.rest();
}

void resume(Turn& turn, const SignalStep& step) {
  const Json* arrived = turn.kept_result();
  if (!arrived) return turn.rest();
  receive(turn, step, *arrived);
}

void woken(Turn& turn, const SignalStep& step, Wakening&& wakening) {
  if (wakening.wait.kind == WaitKind::timer) return time_out(turn, step);
  turn.machine.abandon_waits(turn.strand);
  receive(turn, step, std::move(wakening.payload));
}

}  // namespace cairn
