// The audit trail is a hash chain. The hash of each row covers the row and the hash of the row before. Changing,
// removing or inserting a row makes every later hash wrong.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/ed25519.h"
#include "store/store.h"

namespace cairn {

// The hexadecimal SHA-256 of the JSON array of everything in the row except its own hash.
std::string audit_hash(const AuditRow& row);
// The part of that array that does not depend on earlier rows: all except the first element (the row's number) and the
// last (the previous hash). For a store that builds the chain itself.
std::string hashed_part(const AuditRow& row);

// `storable` makes the texts acceptable to every store and reader: invalid UTF-8 and U+0000 become U+FFFD, and texts
// are cut at 4 KiB. One bad row must not block the rows beside it. `is_storable` tells whether a row already has such
// texts, which is almost always true.
bool is_storable(const AuditRow& row);
AuditRow storable(AuditRow row);

// The row, made storable, as the successor of `last` (empty: it is the first row) at `at`.
AuditRow chained(AuditRow row, const std::optional<AuditRow>& last, Timestamp at);
// The same at the row's own instant.
inline AuditRow chained(const AuditRow& row, const std::optional<AuditRow>& last) { return chained(row, last, row.at); }

struct AuditReport {
  std::int64_t rows = 0;       // that were checked
  std::int64_t first_row = 1;  // the sequence of the first one; greater than 1 if earlier rows are in exports
  std::string last_hash;       // keep it elsewhere: it later shows whether the end was cut off
  std::optional<std::int64_t> broken_at;
  std::string why;
  // With a public key: the number of checkpoints that it signed, and the last row that they confirm.
  std::int64_t checkpoints = 0;  // with exports
  std::int64_t signed_rows = 0;
  std::optional<Timestamp> last_checkpoint;
};

// Retention exports the oldest rows to a file and then removes them. The seal signs what the file has. It is the last
// line of the file, and a row of the chain, which is appended before the rows are removed. So a chain that begins later
// than at row 1 has a row that vouches for what is missing.
struct AuditSeal {
  std::int64_t from = 0;
  std::string previous_hash;  // of row `from`
  std::int64_t through = 0;
  std::string hash;  // of row `through`
  std::string at;
  std::string key;        // its fingerprint
  std::string signature;  // hexadecimal
};
inline constexpr std::string_view export_operation = "audit.export";
AuditSeal sealed(const AuditRow& first, const AuditRow& last, Timestamp at, const Ed25519PrivateKey& key);
Json seal_document(const AuditSeal& seal);
Result<AuditSeal> seal_from(const Json& document);
// The line of the file, {"export": {...}}, and the row of the chain.
Json seal_line(const AuditSeal& seal);
AuditRow export_row(const AuditSeal& seal, const std::string& file, const std::string& node);

// Checks a chain row by row. The rows may come from a store, a server or exports. A chain that does not begin at row 1
// must contain an export that ends where it begins, or later.
class AuditCheck {
 public:
  // If `known_hash` is given, the chain must contain it. With `key` the chain must contain signed checkpoints, and each
  // must be valid.
  explicit AuditCheck(std::string known_hash = {}, std::optional<Ed25519PublicKey> key = std::nullopt)
      : known_hash_(std::move(known_hash)), key_(std::move(key)) {}

  // False if the chain is broken here; further rows are ignored.
  bool add(const AuditRow& row);
  // The seal of a file whose rows were added before.
  bool add(const AuditSeal& seal);
  AuditReport finish();

 private:
  std::string fault_of(const AuditRow& row);
  std::string fault_of_checkpoint(const AuditRow& row);
  std::string fault_of_export(const AuditRow& row);
  // Notes what a valid seal vouches for.
  std::string fault_of(const AuditSeal& seal);
  // Whether row `sequence` has this hash. `otherwise` if the row is not remembered.
  bool has_hash(std::int64_t sequence, const std::string& hash, bool otherwise) const;
  // The same row again: it is in an export and still in the store.
  bool is_repeat(const AuditRow& row) const;
  void count_signed(std::int64_t sequence, const std::string& at);
  bool fail(std::int64_t row, std::string why);

  const std::string known_hash_;
  const std::optional<Ed25519PublicKey> key_;
  bool known_ = false;
  std::optional<std::int64_t> removed_;  // the last row before the first one; absent before the first row
  std::string removed_hash_;
  bool vouched_ = false;  // an export has the removed rows
  std::int64_t last_ = 0;
  std::map<std::int64_t, std::string> recent_;  // hashes of the last rows, by sequence; checkpoints name one of them
  AuditReport report_;
};

// Checks the whole chain from the first row that the store has.
// `stop` is asked before each page; if it says yes, the answer is ErrorCode::unavailable.
Result<AuditReport> verify_audit(Store& store, const std::string& known_hash = {},
                                 const std::function<bool()>& stop = {});

// A checkpoint is a row of the chain. Its details name the row and hash that it confirms, and the signature. An
// attacker who rewrites rows can recompute every hash but cannot sign.
inline constexpr std::string_view checkpoint_operation = "audit.checkpoint";
AuditRow checkpoint_row(std::int64_t sequence, const std::string& hash, const std::string& node, Timestamp at,
                        const Ed25519PrivateKey& key);

// The details of a stored row. Unreadable details are answered as text, so that the other rows stay readable. The hash
// of that row is then wrong.
Json audit_details(std::string_view stored);

// A row as JSON, for the API and exports.
Json audit_document(const AuditRow& row);
// ErrorCode::invalid if the document is not an audit row.
Result<AuditRow> audit_row_from(const Json& document);

}  // namespace cairn
