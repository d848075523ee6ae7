#include "interpreter/other_instance.h"
#include "interpreter/steps.h"

namespace cairn {

void begin(Turn& turn, const SubworkflowStep& child) {
  Machine& machine = turn.machine;
  auto prepared = prepare_start(turn, child.name, child.version, child.input, child.reference);
  if (!prepared) return turn.fail_to_lane(std::move(prepared).error(), no_index, child.on_failure);
  InstanceStart start = std::move(prepared).value();
  start.id.value = derived_uuid(machine.snapshot().instance.value, "child", machine.next_number());
  start.inherited = machine.snapshot().reference;
  Wait wait;
  wait.kind = WaitKind::subworkflow;
  wait.step = turn.step.id;
  wait.name = child.name;
  wait.target = start.id.value;
  turn.remember({});
  start.token = machine.open_wait(turn.strand, std::move(wait));
  machine.out().starts.push_back(std::move(start));
  turn.rest();
}

void woken(Turn& turn, const SubworkflowStep& child, Wakening&& wakening) {
  if (wakening.failure) {
    return turn.fail_to_lane(turn.failure(wakening.failure->failure_class, std::move(wakening.failure->code),
                                          std::move(wakening.failure->message), std::move(wakening.failure->details)),
                             no_index, child.on_failure);
  }
  if (turn.take_result(child.result, std::move(wakening.payload), child.on_failure)) turn.end();
}

void resume(Turn& turn, const SubworkflowStep& child) {
  const Json* arrived = turn.kept_result();
  if (!arrived) return turn.rest();
  if (turn.take_result(child.result, *arrived)) turn.end();
}

}  // namespace cairn
