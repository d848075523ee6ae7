#include "interpreter/other_instance.h"
#include "interpreter/steps.h"

namespace cairn {

void begin(Turn& turn, const ContinueStep& next) {
  Machine& machine = turn.machine;
  CAIRN_OR_FAIL(turn, InstanceStart start, prepare_start(turn, next.name, next.version, next.input, next.reference));
  start.id.value = derived_uuid(machine.snapshot().instance.value, "continuation", machine.next_number());
  machine.out().starts.push_back(std::move(start));
  turn.end();
}

}  // namespace cairn
