// The frame remembers the `scope` of the running entry: the loop variables of its round.
#include "interpreter/steps.h"

namespace cairn {

void begin(Turn& turn, const UndoStep&) {
  turn.remember(Json::object());
  turn.continue_step();
}

void resume(Turn& turn, const UndoStep&) {
  auto entry = turn.machine.take_compensation(turn.strand);
  if (!entry) return turn.end();
  const Program& program = turn.machine.program();
  const StepIndex registered = program.places.find_step(entry->place);
  if (registered == no_index || program.steps[registered].compensate == no_index) return turn.continue_step();
  turn.remember("scope", std::move(entry->scope));
  turn.enter(program.steps[registered].compensate);
}

void lane_ended(Turn& turn, const UndoStep&, BlockIndex) { turn.continue_step(); }

}  // namespace cairn
