#include "interpreter/steps.h"

namespace cairn {

void begin(Turn& turn, const SwitchStep& choice) {
  BlockIndex lane = choice.otherwise;
  for (const SwitchStep::Case& candidate : choice.cases) {
    CAIRN_OR_FAIL(turn, const bool holds, turn.condition(candidate.when, "when"));
    if (holds) {
      lane = candidate.steps;
      break;
    }
  }
  if (lane == no_index) return turn.end();
  turn.remember({});
  turn.enter(lane);
}

}  // namespace cairn
