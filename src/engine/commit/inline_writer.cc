#include "engine/commit/inline_writer.h"

namespace cairn {

void InlineWriter::run_until(const std::function<bool()>& done) {
  while (!done()) {
    if (!write_queued()) yield_();
  }
}

bool InlineWriter::write_queued() {
  CommitBatch batch;
  if (commits_ >= commits_max_ || !backlog_.take_now(batch)) return false;
  ++commits_;
  commit_.write(batch);
  --commits_;
  batch.answer();
  backlog_.answered(batch);
  return true;
}

}  // namespace cairn
