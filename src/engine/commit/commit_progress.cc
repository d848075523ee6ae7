#include "engine/commit/commit_progress.h"

#include <algorithm>

namespace cairn {

using std::chrono::nanoseconds;

void CommitProgress::note() { last_at_ = nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void CommitProgress::submitted() {
  // The first unit after an idle time starts a new measurement.
  if (open_ == 0) note();
  ++open_;
}

void CommitProgress::leave_commit() {
  --in_commit_;
  note();
}

void CommitProgress::answered(std::size_t units) {
  note();
  open_ -= units;
}

nanoseconds CommitProgress::stalled_for() const {
  if (open_ == 0) return nanoseconds(0);
  const nanoseconds last_at(last_at_.load());  // read after `open_`, because it is written before `open_`
  const auto stalled = nanoseconds(std::chrono::steady_clock::now().time_since_epoch()) - last_at;
  // A database server that does not answer is at fault, not this process: a restart would not help.
  if (remote_ && in_commit_ > 0 && stalled < remote_max) return nanoseconds(0);
  return std::max(stalled, nanoseconds(0));
}

}  // namespace cairn
