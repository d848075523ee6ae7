// Credentials and the audit trail.
#include "store/audit_chain.h"
#include "store/postgres/wire/lock_key.h"
#include "store/postgres/wire/row_reading.h"
#include "store/postgres/wire/transaction.h"
#include "store/projection.h"

namespace cairn {

using postgres::json_or_null;
using postgres::Rows;
using postgres::Sql;

namespace {

ApiKeyRow read_api_key(const Rows& rows) {
  return {rows.text(0),           rows.text(1), rows.text(2), rows.texts(3),
          rows.json(4),           rows.text(5), rows.time(6), rows.time_or_nothing(7),
          rows.time_or_nothing(8)};
}

AuditRow read_audit(const Rows& rows) {
  return {rows.integer(0), rows.time(1), rows.text(2), rows.text(3),
          rows.text(4),    rows.text(5), rows.text(6), audit_details(rows.is_null(7) ? "null" : rows.text(7)),
          rows.text(8),    rows.text(9)};
}

}  // namespace

Result<void> PostgresStore::put_api_key(const ApiKeyRow& row) {
  CAIRN_TRY_VOID(write<bool>([&](Connection& db) -> Result<bool> {
    std::optional<Timestamp> expires, revoked;
    if (row.expires_at) expires = whole_ms(*row.expires_at);
    if (row.revoked_at) revoked = whole_ms(*row.revoked_at);
    db.send(Sql::put_api_key, row.id, row.secret_hash, row.subject, postgres::names(row.roles), json_or_null(row.scope),
            row.note, now(), expires, revoked);
    return true;
  }));
  return {};
}

Result<std::optional<ApiKeyRow>> PostgresStore::find_api_key(const std::string& secret_hash) {
  return read<std::optional<ApiKeyRow>>([&](Connection& db) -> Result<std::optional<ApiKeyRow>> {
    Rows rows = db.query(Sql::find_api_key, secret_hash);
    std::optional<ApiKeyRow> found;
    if (rows.next()) found = read_api_key(rows);
    if (rows.fault()) return *rows.fault();
    return found;
  });
}

Result<std::vector<ApiKeyRow>> PostgresStore::list_api_keys() {
  return read<std::vector<ApiKeyRow>>([&](Connection& db) -> Result<std::vector<ApiKeyRow>> {
    std::vector<ApiKeyRow> keys;
    Rows rows = db.query(Sql::list_api_keys);
    while (rows.next()) keys.push_back(read_api_key(rows));
    if (rows.fault()) return *rows.fault();
    return keys;
  });
}

Result<bool> PostgresStore::revoke_api_key(const std::string& id) {
  return write<bool>(
      [&](Connection& db) -> Result<bool> { return db.query(Sql::revoke_api_key, id, now()).changed() == 1; });
}

Result<void> PostgresStore::put_token_user(const TokenUserRow& row) {
  CAIRN_TRY_VOID(write<bool>([&](Connection& db) -> Result<bool> {
    const Timestamp at = now();
    db.send(Sql::put_token_user, row.account, row.person, postgres::names(row.roles), postgres::names(row.task_roles),
            at, after(at, Duration::of_seconds(-token_seen_step_s)));
    return true;
  }));
  return {};
}

Result<std::vector<TokenUserRow>> PostgresStore::find_token_users(const std::string& person) {
  return read<std::vector<TokenUserRow>>([&](Connection& db) -> Result<std::vector<TokenUserRow>> {
    std::vector<TokenUserRow> users;
    Rows rows = db.query(Sql::find_token_users, person);
    while (rows.next()) users.push_back({rows.text(0), rows.text(1), rows.texts(2), rows.texts(3)});
    if (rows.fault()) return *rows.fault();
    return users;
  });
}

Result<void> PostgresStore::append_audit(std::span<const AuditRow> rows) {
  std::vector<AuditRow> dated(rows.begin(), rows.end());
  for (AuditRow& row : dated) row.at = now();
  CAIRN_TRY_VOID(write<bool>([&](Connection& db) -> Result<bool> {
    append_audit_rows(db, dated);
    return true;
  }));
  return {};
}

void PostgresStore::append_audit_rows(Connection& db, std::span<const AuditRow> rows) {
  if (rows.empty()) return;
  postgres::RowList list(postgres::RowType::audit);
  for (const AuditRow& given : rows) {
    const std::optional<AuditRow> mended = is_storable(given) ? std::nullopt : std::optional(storable(given));
    const AuditRow& row = mended ? *mended : given;
    list.add(row.at, row.who, row.what, row.resource, row.why, row.from, json_or_null(row.details), hashed_part(row));
  }
  // The chain has one end, so appending transactions lock it.
  db.send(Sql::append_audit, list, postgres::lock_key("audit", db.schema()));
}

Result<Page<AuditRow>> PostgresStore::list_audit(const PageRequest& request) {
  CAIRN_TRY(const std::int64_t cursor, sql::read_cursor(request.cursor, 0));
  return read<Page<AuditRow>>([&](Connection& db) -> Result<Page<AuditRow>> {
    Rows rows = db.query(Sql::list_audit, cursor, static_cast<std::int64_t>(request.limit) + 1);
    return postgres::read_page<AuditRow>(rows, request.limit, read_audit,
                                         [](const Rows& row) { return std::to_string(row.integer(0)); });
  });
}

Result<std::size_t> PostgresStore::retire_audit(std::int64_t through, std::size_t max) {
  return write<std::size_t>([&](Connection& db) -> Result<std::size_t> {
    return static_cast<std::size_t>(db.query(Sql::retire_audit, through, static_cast<std::int64_t>(max)).changed());
  });
}

}  // namespace cairn
