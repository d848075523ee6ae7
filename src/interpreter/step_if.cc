#include "interpreter/steps.h"

namespace cairn {

void begin(Turn& turn, const IfStep& branch) {
  CAIRN_OR_FAIL(turn, const bool holds, turn.condition(branch.condition, "if"));
  const BlockIndex lane = holds ? branch.then_block : branch.else_block;
  if (lane == no_index) return turn.end();
  turn.remember({});
  turn.enter(lane);
}

}  // namespace cairn
