// Credentials and the audit trail.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/time.h"

namespace cairn {

// A credential for programs. Only the hash of its secret is kept.
struct ApiKeyRow {
  std::string id;           // public; appears in the audit trail
  std::string secret_hash;  // SHA-256 of the whole key, hexadecimal
  std::string subject;      // the user that acts with it
  std::vector<std::string> roles;
  Json scope;  // limits within the roles, as {prefixes, task_roles}; null: none
  std::string note;
  Timestamp created_at;
  std::optional<Timestamp> expires_at;
  std::optional<Timestamp> revoked_at;
  bool operator==(const ApiKeyRow&) const = default;
};

// The roles of a person in the last token that the server accepted from the account.
struct TokenUserRow {
  std::string account;  // the token's issuer and subject
  std::string person;
  std::vector<std::string> roles;       // of cairn: task_worker, operator, …
  std::vector<std::string> task_roles;  // in human tasks
  bool operator==(const TokenUserRow&) const = default;
};

// A store may keep the time of an account's last token this inexactly, in seconds.
inline constexpr std::int64_t token_seen_step_s = 86'400;

// One audited change. The hash of each row covers the row before.
struct AuditRow {
  std::int64_t sequence = 0;  // set by the store, without gaps
  Timestamp at;               // set by the store
  std::string who;
  std::string what;      // the operation, e.g. instance.cancel
  std::string resource;  // its id
  std::string why;       // the given reason
  std::string from;      // address and request id
  Json details;
  std::string previous_hash;  // set by the store
  std::string hash;           // set by the store: audit_hash() of everything above
  bool operator==(const AuditRow&) const = default;
};

}  // namespace cairn
