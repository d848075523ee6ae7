#include "store/audit_scope.h"

#include <iterator>
#include <utility>

namespace cairn {
namespace {

thread_local AuditScope* current_scope = nullptr;

}  // namespace

AuditScope* AuditScope::current() { return current_scope; }

AuditScope::Enter::Enter(AuditScope& audit_scope) : before_(current_scope) { current_scope = &audit_scope; }
AuditScope::Enter::~Enter() { current_scope = before_; }

std::vector<AuditRow> AuditScope::take() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(rows_, {});
}

void AuditScope::give_back(std::vector<AuditRow> rows) {
  const std::scoped_lock lock(mutex_);
  rows_.insert(rows_.begin(), std::make_move_iterator(rows.begin()), std::make_move_iterator(rows.end()));
}

}  // namespace cairn
