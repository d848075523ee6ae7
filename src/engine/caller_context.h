// For whom the asking thread works, carried along with a request until it is answered: so long the audit scope lives.
#pragma once

#include <optional>

#include "store/audit_scope.h"
#include "store/unit.h"

namespace cairn {

class CallerContext {
 public:
  // Of the calling thread.
  CallerContext() : scope_(AuditScope::current()), pending_(std::in_place) {}

  // What a unit of this request writes into the audit trail.
  std::vector<AuditRow> audit_rows() const { return pending_ ? pending_->rows() : std::vector<AuditRow>(); }
  // The answer to the commit of that unit.
  void note(const Result<CommitOutcome>& written) {
    if (pending_ && written && written->kind == CommitOutcome::Kind::done) pending_->written();
  }
  // Gives back what was not written. Before the caller is answered.
  void release() { pending_.reset(); }

  // Does something in the caller's name.
  auto act(const auto& what) const {
    std::optional<AuditScope::Enter> entered;
    if (scope_ != nullptr) entered.emplace(*scope_);
    return what();
  }

 private:
  AuditScope* scope_;
  std::optional<PendingAuditRows> pending_;
};

}  // namespace cairn
