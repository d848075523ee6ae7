// The audit scope of a thread: the rows to write to the audit trail for the current request, and its trace. The first
// transaction of the thread that changes something also writes these rows, so no change is ever without its row. Code
// that hands work to another thread hands over the rows too (Unit::audit, RunIntake).
//
// The scope is ambient, because the alternative is one more argument for every function that changes something (ADR 5).
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "store/access_rows.h"

namespace cairn {

// Safe from several threads.
class AuditScope {
 public:
  // The rows have the time of the store's clock. `traceparent` is in W3C format, or empty.
  explicit AuditScope(std::vector<AuditRow> rows, std::string traceparent = {})
      : rows_(std::move(rows)), traceparent_(std::move(traceparent)) {}
  AuditScope(const AuditScope&) = delete;
  AuditScope& operator=(const AuditScope&) = delete;

  // Takes the rows that are not written yet, to write them with a change. Call `give_back` if the change was not made.
  std::vector<AuditRow> take();
  void give_back(std::vector<AuditRow> rows);

  const std::string& traceparent() const { return traceparent_; }

  // The scope of the calling thread; null: it has none.
  static AuditScope* current();

  // Sets the scope of the calling thread during its lifetime.
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

// Takes the thread's unwritten audit rows for one transaction. The destructor gives them back unless `written` was
// called.
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
