// The audit trail as a chain: each row's hash covers the row and the hash of the row before, so that a
// row cannot be changed, removed or put in between without every later hash being wrong.
#pragma once

#include <optional>
#include <string>

#include "store/store.h"

namespace cairn {

// SHA-256 of the JSON array of everything in the row but its own hash, in hexadecimal.
std::string audit_hash(const AuditRow& row);
// The part of that array that does not depend on the rows before: all but the first element, its number, and the last
// one, the hash before it. For a store that puts the chain together itself.
std::string hashed_part(const AuditRow& row);

// The row as it follows `last` (nothing: the first one) at `at`.
AuditRow chained(AuditRow row, const std::optional<AuditRow>& last, Timestamp at);
// The same, at the instant that the row says itself.
inline AuditRow chained(const AuditRow& row, const std::optional<AuditRow>& last) { return chained(row, last, row.at); }

struct AuditReport {
  std::int64_t rows = 0;
  std::string last_hash;  // to be kept elsewhere: it tells later whether the end was cut off
  std::optional<std::int64_t> broken_at;
  std::string why;
};
// Walks the chain from its beginning. `known_hash`, when given, must stand somewhere in it.
Result<AuditReport> verify_audit(Store& store, const std::string& known_hash = {});

}  // namespace cairn
