#include "store/audit_scope.h"

#include <iterator>
#include <utility>

namespace cairn {
namespace {

thread_local AuditScope* current_mandate = nullptr;

}  // namespace

AuditScope* AuditScope::current() { return current_mandate; }

AuditScope::Enter::Enter(AuditScope& audit_scope) : before_(current_mandate) { current_mandate = &audit_scope; }
AuditScope::Enter::~Enter() { current_mandate = before_; }

std::vector<AuditRow> AuditScope::take() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(rows_, {});
}

void AuditScope::give_back(std::vector<AuditRow> rows) {
  const std::scoped_lock lock(mutex_);
  rows_.insert(rows_.begin(), std::make_move_iterator(rows.begin()), std::make_move_iterator(rows.end()));
}

}  // namespace cairn
