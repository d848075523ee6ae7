#include "engine/commit/commit_batch.h"

namespace cairn {

void CommitBatch::answer() {
  std::size_t place = 0;
  for (std::vector<Unit>& units : parts) {
    for (Unit& unit : units) {
      Result<CommitOutcome> outcome =
          *outcomes ? Result<CommitOutcome>(std::move((**outcomes)[place])) : outcomes->error();
      // The store could not write this unit now, unlike the others.
      if (outcome && outcome->kind == CommitOutcome::Kind::failed && outcome->error.code == ErrorCode::unavailable) {
        outcome = Error(outcome->error);
      }
      answers[place++](std::move(outcome), std::move(unit));
    }
  }
}

}  // namespace cairn
