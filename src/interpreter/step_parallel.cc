// The frame remembers how many branches have `begun` and how many have `ended`. The branches are the
// strands inside this one; none but the parallel step itself can have any while it is on top.
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
  turn.go_on();
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
  // It stands above this strand on the agenda: the next branch begins when this one rests or ends.
  machine.add_strand(turn.strand.id, parallel.branches[begun].steps);
}

void strand_ended(Turn& turn, const ParallelStep&) {
  turn.remember("ended", count(turn, "ended") + 1);
  turn.machine.make_ready(turn.strand);
}

}  // namespace cairn
