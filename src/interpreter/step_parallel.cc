// The frame remembers how many branches have `begun` and how many have `ended`. The branches are the child strands of
// this strand. While this step is on top, only it can have child strands.
#include "interpreter/steps.h"

namespace cairn {
namespace {

std::int64_t count(const Turn& turn, std::string_view key) {
  const Json& held = turn.data()[key];
  return held.is_integer() ? held.as_integer() : 0;
}

}  // namespace

void begin(Turn& turn, const ParallelStep&) {
  turn.remember(Json::object({{"begun", 0}, {"ended", 0}}));
  turn.continue_step();
}

void resume(Turn& turn, const ParallelStep& parallel) {
  Machine& machine = turn.machine;
  if (count(turn, "ended") >= static_cast<std::int64_t>(parallel.join)) {
    machine.cancel_children(turn.strand);
    return turn.end();
  }
  const auto begun = static_cast<std::size_t>(count(turn, "begun"));
  if (begun >= parallel.branches.size()) return turn.rest();
  if (!machine.strand_fits()) {
    return turn.fail(turn.failure(FailureClass::definition, "limit_strands",
                                  "more than " + std::to_string(machine.setting().limits.strands_max) +
                                      " strands at once (limit: strands per instance)"));
  }
  turn.remember("begun", static_cast<std::int64_t>(begun) + 1);
  // The new strand is above this one on the agenda. The next branch starts when the new strand rests or ends.
  machine.add_strand(turn.strand.id, parallel.branches[begun].steps);
}

void strand_ended(Turn& turn, const ParallelStep&) {
  turn.remember("ended", count(turn, "ended") + 1);
  turn.machine.make_ready(turn.strand);
}

}  // namespace cairn
