// Credentials and the audit trail.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/access_rows.h"
#include "store/rows.h"
#include "store/store_base.h"

namespace cairn {

class AccessStore : public virtual StoreBase {
 public:
  virtual Result<void> put_api_key(const ApiKeyRow& row) = 0;
  virtual Result<std::optional<ApiKeyRow>> find_api_key(const std::string& secret_hash) = 0;
  virtual Result<std::vector<ApiKeyRow>> list_api_keys() = 0;
  virtual Result<bool> revoke_api_key(const std::string& id) = 0;
  // Replaces what is known of the account, and keeps the time. Writes nothing if nothing changed within a day.
  // Retention removes accounts that have not been seen for long (RowRetention::users_before).
  virtual Result<void> put_token_user(const TokenUserRow& row) = 0;
  // The accounts of one person, by account.
  virtual Result<std::vector<TokenUserRow>> find_token_users(const std::string& person) = 0;
  // Appends the rows to the chain, in order, in one transaction.
  virtual Result<void> append_audit(std::span<const AuditRow> rows) = 0;
  virtual Result<Page<AuditRow>> list_audit(const PageRequest& page) = 0;  // oldest first
  // Removes the oldest rows up to the sequence `through`, at most `max` of them, and answers how many. The last row
  // always stays, because the next one continues from it. Export the rows first (upkeep/retire_audit.h).
  virtual Result<std::size_t> retire_audit(std::int64_t through, std::size_t max) = 0;
};

}  // namespace cairn
