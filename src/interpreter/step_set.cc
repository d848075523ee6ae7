#include "interpreter/failures.h"
#include "interpreter/state_path.h"
#include "interpreter/steps.h"

namespace cairn {

void begin(Turn& turn, const SetStep& set) {
  Machine& machine = turn.machine;
  if (set.assignments.size() == 1) {
    const SetStep::Assignment& only = set.assignments.front();
    CAIRN_OR_FAIL(turn, Json value, turn.value(only.value, only.path.text.c_str()));
    if (auto written = machine.assign(&turn.step, only.path, std::move(value)); !written) {
      return turn.fail(std::move(written).error());
    }
    return turn.end();
  }
  // Each entry sees the entries before it. The state changes only if every entry succeeds.
  Json state = machine.snapshot().state;
  for (const SetStep::Assignment& assignment : set.assignments) {
    machine.scope().read_state(&state);
    auto value = turn.value(assignment.value, assignment.path.text.c_str());
    machine.scope().read_state(nullptr);
    if (!value) return turn.fail(std::move(value).error());
    if (const auto conflict = find_conflict(state, assignment.path)) {
      return turn.fail(turn.failure(FailureClass::expression, "path_conflict", *conflict));
    }
    set_path(state, assignment.path, std::move(value).value());
  }
  if (auto written = machine.write_state(&turn.step, std::move(state)); !written) {
    return turn.fail(std::move(written).error());
  }
  turn.end();
}

}  // namespace cairn
