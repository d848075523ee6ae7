// Who may come in, and what they did.
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
  std::string id;           // public, stands in the audit trail
  std::string secret_hash;  // SHA-256 of the whole key, hexadecimal
  std::string subject;      // who acts with it
  std::vector<std::string> roles;
  Json scope;  // limits within the roles, as {prefixes, task_roles}; null: none
  std::string note;
  Timestamp created_at;
  std::optional<Timestamp> expires_at;
  std::optional<Timestamp> revoked_at;
  bool operator==(const ApiKeyRow&) const = default;
};

// One change, as it is remembered: each row's hash covers the row before.
struct AuditRow {
  std::int64_t sequence = 0;  // given by the store, without gaps
  Timestamp at;               // given by the store
  std::string who;
  std::string what;      // the operation, e.g. instance.cancel
  std::string resource;  // its id
  std::string why;       // the reason that was given
  std::string from;      // address and request id
  Json details;
  std::string previous_hash;  // given by the store
  std::string hash;           // given by the store: audit_hash() of everything above
  bool operator==(const AuditRow&) const = default;
};

}  // namespace cairn
