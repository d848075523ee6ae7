#include <algorithm>
#include <charconv>

#include "store/audit_chain.h"
#include "store/memory/memory_store.h"

namespace cairn {

Result<void> MemoryStore::put_api_key(const ApiKeyRow& row) {
  const std::lock_guard lock(mutex_);
  ApiKeyRow stored = row;
  stored.created_at = now();
  api_keys_[row.id] = std::move(stored);
  return {};
}

Result<std::optional<ApiKeyRow>> MemoryStore::find_api_key(const std::string& secret_hash) {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, row] : api_keys_) {
    if (row.secret_hash == secret_hash) return std::optional(row);
  }
  return std::optional<ApiKeyRow>();
}

Result<std::vector<ApiKeyRow>> MemoryStore::list_api_keys() {
  const std::lock_guard lock(mutex_);
  std::vector<ApiKeyRow> rows;
  for (const auto& [id, row] : api_keys_) rows.push_back(row);
  return rows;
}

Result<bool> MemoryStore::revoke_api_key(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto found = api_keys_.find(id);
  if (found == api_keys_.end()) return false;
  if (!found->second.revoked_at) found->second.revoked_at = now();
  return true;
}

Result<void> MemoryStore::put_token_user(const TokenUserRow& row) {
  const std::lock_guard lock(mutex_);
  token_users_[row.account] = {row, now()};
  return {};
}

Result<std::vector<TokenUserRow>> MemoryStore::find_token_users(const std::string& person) {
  const std::lock_guard lock(mutex_);
  std::vector<TokenUserRow> rows;
  for (const auto& [account, user] : token_users_) {
    if (user.row.person == person) rows.push_back(user.row);
  }
  return rows;
}

Result<void> MemoryStore::append_audit(std::span<const AuditRow> rows) {
  const std::lock_guard lock(mutex_);
  for (const AuditRow& row : rows) {
    const std::optional<AuditRow> last = audit_.empty() ? std::nullopt : std::optional(audit_.back());
    audit_.push_back(chained(row, last, now()));
  }
  return {};
}

Result<Page<AuditRow>> MemoryStore::list_audit(const PageRequest& request) {
  std::int64_t after = 0;
  const auto read = std::from_chars(request.cursor.data(), request.cursor.data() + request.cursor.size(), after);
  if (!request.cursor.empty() && read.ec != std::errc()) {
    return Error{ErrorCode::invalid, "the cursor is not one that this list gave"};
  }
  const std::lock_guard lock(mutex_);
  Page<AuditRow> page;
  const std::int64_t removed = audit_.empty() ? 0 : audit_.front().sequence - 1;
  for (std::size_t at = static_cast<std::size_t>(std::max<std::int64_t>(after - removed, 0)); at < audit_.size();
       ++at) {
    if (page.items.size() == request.limit) {
      page.next_cursor = std::to_string(page.items.back().sequence);
      break;
    }
    page.items.push_back(audit_[at]);
  }
  return page;
}

Result<std::size_t> MemoryStore::retire_audit(std::int64_t through, std::size_t max) {
  const std::lock_guard lock(mutex_);
  std::size_t removed = 0;
  while (removed < max && audit_.size() > 1 && audit_.front().sequence <= through) {
    audit_.pop_front();
    ++removed;
  }
  return removed;
}

}  // namespace cairn
