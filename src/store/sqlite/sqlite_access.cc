#include "store/audit_chain.h"
#include "store/projection.h"
#include "store/sqlite/reader.h"
#include "store/sqlite/row_reading.h"

namespace cairn {

using sqlite::json_text;
using sqlite::Query;
using sqlite::Sql;
using sqlite::Transaction;

namespace {

Json name_list(const std::vector<std::string>& names) {
  Json list = Json::array();
  for (const std::string& name : names) list.push_back(name);
  return list;
}

std::vector<std::string> names(const Json& list) {
  std::vector<std::string> out;
  if (!list.is_array()) return out;
  for (const Json& name : list.items()) {
    if (name.is_string()) out.emplace_back(name.as_string());
  }
  return out;
}

ApiKeyRow read_api_key(const Query& query) {
  ApiKeyRow row;
  row.id = query.text(0);
  row.secret_hash = query.text(1);
  row.subject = query.text(2);
  row.roles = names(query.json(3));
  row.scope = query.json(4);
  row.note = query.text(5);
  row.created_at = query.time(6);
  row.expires_at = query.time_or_nothing(7);
  row.revoked_at = query.time_or_nothing(8);
  return row;
}

AuditRow read_audit(const Query& query) {
  AuditRow row;
  row.sequence = query.integer(0);
  row.at = query.time(1);
  row.who = query.text(2);
  row.what = query.text(3);
  row.resource = query.text(4);
  row.why = query.text(5);
  row.from = query.text(6);
  row.details = audit_details(query.is_null(7) ? "null" : query.text(7));
  row.previous_hash = query.text(8);
  row.hash = query.text(9);
  return row;
}

}  // namespace

Result<void> SqliteStore::put_api_key(const ApiKeyRow& row) {
  const std::lock_guard lock(writer_mutex_);
  if (auto refused = refusal()) return *refused;
  Transaction transaction(*writer_);
  writer_->run(Sql::put_api_key, row.id, row.secret_hash, row.subject, json_text(name_list(row.roles)), row.scope,
               row.note, now(), row.expires_at, row.revoked_at);
  if (auto done = transaction.commit(); !done) return failed(done.error());
  return {};
}

Result<std::optional<ApiKeyRow>> SqliteStore::find_api_key(const std::string& secret_hash) {
  Reader db = reader();
  std::optional<ApiKeyRow> found;
  {
    Query row = db->query(Sql::find_api_key, secret_hash);
    if (row.next()) found = read_api_key(row);
  }
  return db.give(std::move(found));
}

Result<std::vector<ApiKeyRow>> SqliteStore::list_api_keys() {
  Reader db = reader();
  std::vector<ApiKeyRow> rows;
  {
    Query row = db->query(Sql::list_api_keys);
    while (row.next()) rows.push_back(read_api_key(row));
  }
  return db.give(std::move(rows));
}

Result<bool> SqliteStore::revoke_api_key(const std::string& id) {
  const std::lock_guard lock(writer_mutex_);
  if (auto refused = refusal()) return *refused;
  Transaction transaction(*writer_);
  const bool there = writer_->run(Sql::revoke_api_key, id, now()) > 0;
  if (auto done = transaction.commit(); !done) return failed(done.error());
  return there;
}

Result<void> SqliteStore::put_token_user(const TokenUserRow& row) {
  const std::lock_guard lock(writer_mutex_);
  if (auto refused = refusal()) return *refused;
  Transaction transaction(*writer_);
  const Timestamp at = now();
  writer_->run(Sql::put_token_user, row.account, row.person, json_text(name_list(row.roles)),
               json_text(name_list(row.task_roles)), at, after(at, Duration::of_seconds(-token_seen_step_s)));
  if (auto done = transaction.commit(); !done) return failed(done.error());
  return {};
}

Result<std::vector<TokenUserRow>> SqliteStore::find_token_users(const std::string& person) {
  Reader db = reader();
  std::vector<TokenUserRow> found;
  {
    Query row = db->query(Sql::find_token_users, person);
    while (row.next()) found.push_back({row.text(0), row.text(1), names(row.json(2)), names(row.json(3))});
  }
  return db.give(std::move(found));
}

Result<void> SqliteStore::append_audit(std::span<const AuditRow> rows) {
  const std::lock_guard lock(writer_mutex_);
  if (auto refused = refusal()) return *refused;
  std::vector<AuditRow> dated(rows.begin(), rows.end());
  for (AuditRow& row : dated) row.at = whole_ms(now());
  Transaction transaction(*writer_);
  sqlite::append_audit_rows(*writer_, dated);
  if (auto done = transaction.commit(); !done) return failed(done.error());
  return {};
}

Result<Page<AuditRow>> SqliteStore::list_audit(const PageRequest& request) {
  CAIRN_TRY(const std::int64_t after, sql::read_cursor(request.cursor, 0));
  Reader db = reader();
  Page<AuditRow> page;
  {
    Query rows = db->query(Sql::list_audit, after, static_cast<std::int64_t>(request.limit + 1));
    while (rows.next()) {
      if (page.items.size() == request.limit) {
        page.next_cursor = std::to_string(page.items.back().sequence);
        break;
      }
      page.items.push_back(read_audit(rows));
    }
  }
  return db.give(std::move(page));
}

Result<std::size_t> SqliteStore::retire_audit(std::int64_t through, std::size_t max) {
  const std::lock_guard lock(writer_mutex_);
  if (auto refused = refusal()) return *refused;
  Transaction transaction(*writer_);
  const std::int64_t removed = writer_->run(Sql::retire_audit, through, static_cast<std::int64_t>(max));
  if (auto done = transaction.commit(); !done) return failed(done.error());
  return static_cast<std::size_t>(removed);
}

}  // namespace cairn
