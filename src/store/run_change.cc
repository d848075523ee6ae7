#include "store/run_change.h"

#include "store/lease_holder.h"

namespace cairn {

RunChanged::Kind check_change(const RunChange& change, const RunRow& row) {
  using Kind = RunChanged::Kind;
  switch (change.kind) {
    case RunChange::Kind::remove:
      // A worker that has the run may still finish it. No other worker leases it.
      return is_awaited(row) ? Kind::awaited : Kind::done;
    case RunChange::Kind::cancel: return is_final(row.status) ? Kind::finished : Kind::done;
    case RunChange::Kind::heartbeat:
    case RunChange::Kind::retry:
    case RunChange::Kind::release: break;
  }
  if (is_final(row.status)) return Kind::finished;
  if (row.status != RunStatus::leased || row.fence != change.fence) return Kind::lease_lost;
  if (!holds_lease(row.leased_by, change.account)) return Kind::not_holder;
  if (change.kind == RunChange::Kind::retry && row.attempt >= row.attempts_max) return Kind::exhausted;
  return Kind::done;
}

bool clears_lease(const RunChange& change, const RunRow& row) {
  return change.kind != RunChange::Kind::cancel && change.kind != RunChange::Kind::remove &&
         row.status == RunStatus::cancelled && row.fence == change.fence && holds_lease(row.leased_by, change.account);
}

}  // namespace cairn
