// The audit scope of the thread that makes a request. The request keeps it until it is answered; the scope lives that
// long.
#pragma once

#include <optional>

#include "store/audit_scope.h"
#include "store/unit.h"

namespace cairn {

// Calls `what` with the audit scope of a caller; null: it has none.
auto in_scope(AuditScope* scope, auto&& what) {
  std::optional<AuditScope::Enter> entered;
  if (scope != nullptr) entered.emplace(*scope);
  return what();
}

class CallerContext {
 public:
  // Takes the scope and the unwritten audit rows of the calling thread.
  CallerContext() : scope_(AuditScope::current()), pending_(std::in_place) {}

  // The audit rows that a unit of this request writes.
  std::vector<AuditRow> audit_rows() const { return pending_ ? pending_->rows() : std::vector<AuditRow>(); }
  // Call it with the answer to the commit of that unit.
  void note(const Result<CommitOutcome>& written) {
    if (pending_ && written && written->kind == CommitOutcome::Kind::done) pending_->written();
  }
  // Gives unwritten rows back to the scope. Call it before the caller is answered.
  void release() { pending_.reset(); }

  // Calls `what` with the caller's scope.
  auto act(const auto& what) const { return in_scope(scope_, what); }

 private:
  AuditScope* scope_;
  std::optional<PendingAuditRows> pending_;
};

}  // namespace cairn
