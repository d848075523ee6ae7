#include "interpreter/steps.h"

namespace cairn {

void begin(Turn& turn, const ReferenceStep& reference) {
  Snapshot& snapshot = turn.machine.snapshot();
  CAIRN_OR_FAIL(turn, snapshot.reference, turn.reference(reference.reference, snapshot.reference));
  turn.machine.scope().forget_reference();
  turn.end();
}

}  // namespace cairn
