#include "store/audit_scope.h"

#include <iterator>
#include <utility>

namespace cairn {
namespace {

thread_local Mandate* current_mandate = nullptr;

}  // namespace

Mandate* Mandate::current() { return current_mandate; }

Mandate::Scope::Scope(Mandate& mandate) : before_(current_mandate) { current_mandate = &mandate; }
Mandate::Scope::~Scope() { current_mandate = before_; }

std::vector<AuditRow> Mandate::take() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(rows_, {});
}

void Mandate::give_back(std::vector<AuditRow> rows) {
  const std::scoped_lock lock(mutex_);
  rows_.insert(rows_.begin(), std::make_move_iterator(rows.begin()), std::make_move_iterator(rows.end()));
}

}  // namespace cairn
