// On whose behalf a thread works. While a request is carried out, the thread that does it has a audit_scope: what the
// audit trail is to say about it, and the trace that it belongs to. The first transaction that changes something on
// that thread writes the rows too, so that there is never a change without its row. Whoever hands the work to
// another thread hands the rows on with it (Unit::audit, RunIntake).
//
// Ambient, because the alternative is one more argument of every verb that changes something (ADR 5).
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "store/access_rows.h"

namespace cairn {

// Safe from several threads.
class AuditScope {
 public:
  // `rows` say when, by the store's clock. `traceparent` as W3C writes it, or empty.
  explicit AuditScope(std::vector<AuditRow> rows, std::string traceparent = {})
      : rows_(std::move(rows)), traceparent_(std::move(traceparent)) {}
  AuditScope(const AuditScope&) = delete;
  AuditScope& operator=(const AuditScope&) = delete;

  // The rows that are not written yet, to be written together with a change. Given back when it was not made.
  std::vector<AuditRow> take();
  void give_back(std::vector<AuditRow> rows);

  const std::string& traceparent() const { return traceparent_; }

  // Of the calling thread; null: it works for nobody in particular.
  static AuditScope* current();

  // The calling thread's, for as long as this lives.
  class Enter {
   public:
    explicit Enter(AuditScope& audit_scope);
    ~Enter();
    Enter(const Enter&) = delete;
    Enter& operator=(const Enter&) = delete;

   private:
    AuditScope* const before_;
  };

 private:
  std::mutex mutex_;
  std::vector<AuditRow> rows_;
  const std::string traceparent_;
};

// What the calling thread owes the audit trail, taken for one transaction: back it goes unless `written` was called.
class PendingAuditRows {
 public:
  PendingAuditRows() : audit_scope_(AuditScope::current()) {
    if (audit_scope_ != nullptr) rows_ = audit_scope_->take();
  }
  PendingAuditRows(const PendingAuditRows&) = delete;
  PendingAuditRows& operator=(const PendingAuditRows&) = delete;
  ~PendingAuditRows() {
    if (!rows_.empty()) audit_scope_->give_back(std::move(rows_));
  }
  const std::vector<AuditRow>& rows() const { return rows_; }
  void written() { rows_.clear(); }

 private:
  AuditScope* audit_scope_;
  std::vector<AuditRow> rows_;
};

}  // namespace cairn
