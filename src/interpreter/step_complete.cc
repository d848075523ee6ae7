#include "interpreter/steps.h"

namespace cairn {

void begin(Turn& turn, const CompleteStep& complete) {
  std::optional<Json> output;
  if (complete.output) {
    CAIRN_OR_FAIL(turn, output, turn.value(*complete.output, "output"));
  }
  turn.machine.complete(turn.strand, std::move(output));
}

}  // namespace cairn
