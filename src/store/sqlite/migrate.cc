#include "store/sqlite/migrate.h"

#include <string>
#include <vector>

namespace cairn::sqlite {

namespace {
constexpr std::int64_t application_id = 0x63726e31;  // "crn1", in the file's header

Error too_new(std::int64_t schema) {
  return {ErrorCode::unsupported, "the store has schema " + std::to_string(schema) + ", this cairn knows up to " +
                                      std::to_string(newest_schema()) + "; use the newer version that wrote it"};
}

// Makes room for checksums in a file that was created without it. Every page is rewritten.
Result<void> make_room(Connection& connection) {
  connection.script("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
  if (connection.error()) return with_context(*connection.error(), "checksums");
  return {};
}

// Creates triggers that count what other programs change; our own connection runs no triggers. They count by three,
// which never looks like a single wrong bit.
void count_foreign_changes(Connection& connection) {
  std::vector<std::string> tables;
  {
    Query rows = connection.query(Sql::list_tables);
    while (rows.next()) tables.push_back(rows.text(0));
  }
  Transaction transaction(connection);
  for (const std::string& table : tables) {
    for (const char* what : {"INSERT", "UPDATE", "DELETE"}) {
      connection.script(("CREATE TRIGGER IF NOT EXISTS foreign_" + std::string(what) + "_" + table + " AFTER " + what +
                         " ON " + table + " BEGIN UPDATE wf_foreign_changes SET changes = changes + 3; END")
                            .c_str());
    }
  }
  static_cast<void>(transaction.commit());
}

}  // namespace

int newest_schema() { return migrations().back().number; }

Result<int> read_schema(Connection& connection) {
  std::int64_t application = 0;
  std::int64_t schema = 0;
  bool empty = true;
  {
    Query query = connection.query(Sql::application_id);
    if (query.next()) application = query.integer(0);
  }
  {
    Query query = connection.query(Sql::user_version);
    if (query.next()) schema = query.integer(0);
  }
  {
    Query query = connection.query(Sql::any_table);
    empty = !query.next();
  }
  if (connection.error()) return *connection.error();
  if (empty) return 0;
  if (application != application_id) {
    return Error{ErrorCode::invalid, "this SQLite file holds something else, not a cairn store"};
  }
  if (schema > newest_schema()) return too_new(schema);
  // A file that lost the mark in its header would be read as if it never had checksums.
  if (schema >= checksum_schema && connection.has_checksums() == false) {
    return Error{ErrorCode::corrupt, "the store's file is damaged: its header says that pages have no checksums"};
  }
  return static_cast<int>(schema);
}

std::optional<Error> newer_schema(Connection& connection) {
  Query query = connection.query(Sql::user_version);
  if (!query.next() || query.integer(0) <= newest_schema()) return std::nullopt;
  return too_new(query.integer(0));
}

Result<void> migrate(Connection& connection) {
  CAIRN_TRY(const int from, read_schema(connection));
  if (from > 0 && from < checksum_schema && connection.has_checksums() == false) CAIRN_TRY_VOID(make_room(connection));
  for (const Migration& step : migrations()) {
    if (step.number <= from) continue;
    Transaction transaction(connection);
    connection.script(step.text);
    connection.script(("PRAGMA application_id = " + std::to_string(application_id)).c_str());
    connection.script(("PRAGMA user_version = " + std::to_string(step.number)).c_str());
    if (auto done = transaction.commit(); !done) {
      return with_context(done.error(), std::string("migration ") + step.name);
    }
  }
  if (from != newest_schema()) count_foreign_changes(connection);
  if (connection.error()) return *connection.error();
  return {};
}

bool has_foreign_changes(Connection& connection) { return connection.query(Sql::foreign_changes).next(); }
void forget_foreign_changes(Connection& connection) { connection.run(Sql::forget_foreign_changes); }

}  // namespace cairn::sqlite
