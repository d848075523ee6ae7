// The audit trail as a chain: each row's hash covers the row and the hash of the row before, so that a
// row cannot be changed, removed or put in between without every later hash being wrong.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/ed25519.h"
#include "store/store.h"

namespace cairn {

// SHA-256 of the JSON array of everything in the row but its own hash, in hexadecimal.
std::string audit_hash(const AuditRow& row);
// The part of that array that does not depend on the rows before: all but the first element, its number, and the last
// one, the hash before it. For a store that puts the chain together itself.
std::string hashed_part(const AuditRow& row);

// The row with texts that every store accepts and every reader can show: bytes that are not UTF-8 and U+0000 become
// U+FFFD, longer texts than 4 KiB are cut. One row must not keep the rows beside it from being written.
// Whether it has them already; it nearly always has.
bool is_storable(const AuditRow& row);
AuditRow storable(AuditRow row);

// The row, made storable, as it follows `last` (nothing: the first one) at `at`.
AuditRow chained(AuditRow row, const std::optional<AuditRow>& last, Timestamp at);
// The same, at the instant that the row says itself.
inline AuditRow chained(const AuditRow& row, const std::optional<AuditRow>& last) { return chained(row, last, row.at); }

struct AuditReport {
  std::int64_t rows = 0;
  std::string last_hash;  // to be kept elsewhere: it tells later whether the end was cut off
  std::optional<std::int64_t> broken_at;
  std::string why;
  // With a public key: how many checkpoints it signed, and up to which row the last of them vouches for the chain.
  std::int64_t checkpoints = 0;
  std::int64_t signed_rows = 0;
  std::optional<Timestamp> last_checkpoint;
};

// Checks a chain row by row, from its first row on: from a store, a server or an export.
class AuditCheck {
 public:
  // `known_hash`, when given, must stand somewhere in the chain. With `key` there must be signed checkpoints, and each
  // must fit.
  explicit AuditCheck(std::string known_hash = {}, std::optional<Ed25519PublicKey> key = std::nullopt)
      : known_hash_(std::move(known_hash)), key_(std::move(key)) {}

  // False: the chain is broken here; no further rows are looked at.
  bool add(const AuditRow& row);
  AuditReport finish();

 private:
  std::string fault_of(const AuditRow& row);
  std::string fault_of_checkpoint(const AuditRow& row);

  const std::string known_hash_;
  const std::optional<Ed25519PublicKey> key_;
  bool known_ = false;
  std::map<std::int64_t, std::string> recent_;  // hashes of the last rows, by sequence: checkpoints name one of them
  AuditReport report_;
};

// Walks the chain from its beginning.
Result<AuditReport> verify_audit(Store& store, const std::string& known_hash = {});

// A checkpoint is a row of the chain: its details say which row and hash it vouches for, and the signature. Whoever
// rewrites rows can compute every hash anew, but cannot sign.
inline constexpr std::string_view checkpoint_operation = "audit.checkpoint";
AuditRow checkpoint_row(std::int64_t sequence, const std::string& hash, const std::string& node, Timestamp at,
                        const Ed25519PrivateKey& key);

// The details of a stored row. Those that cannot be read are shown as text, so that the other rows can be read; the
// row's hash then does not fit.
Json audit_details(std::string_view stored);

// A row as JSON, as the API shows it and exports have it.
Json audit_document(const AuditRow& row);
// ErrorCode::invalid when it is not such a document.
Result<AuditRow> audit_row_from(const Json& document);

}  // namespace cairn
