#include "interpreter/steps.h"
#include "interpreter/waiting.h"

namespace cairn {

Result<std::optional<Timestamp>, Failure> due_of(Turn& turn, const WaitSpec& wait) {
  CAIRN_TRY(const Timestamp at, turn.due(wait.duration, wait.until, wait.until ? "until" : "wait"));
  if (at <= turn.machine.now()) return std::optional<Timestamp>();
  return std::optional<Timestamp>(at);
}

void begin(Turn& turn, const WaitStep& step) {
  CAIRN_OR_FAIL(turn, const std::optional<Timestamp> due, due_of(turn, step.wait));
  if (!due) return turn.end();
  turn.remember({});
  turn.open_timer(*due);
  turn.rest();
}

void woken(Turn& turn, const WaitStep&, Wakening&&) { turn.end(); }

}  // namespace cairn
