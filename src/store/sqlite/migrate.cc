#include "store/sqlite/migrate.h"

#include <string>
#include <vector>

#include "store/schema_errors.h"

namespace cairn::sqlite {

namespace {
constexpr std::int64_t application_id = 0x63726e31;  // "crn1", in the file's header

// Creates triggers that count what other programs change; our own connection runs no triggers. They count by three,
// which never looks like a single wrong bit.
void count_foreign_changes(Connection& connection) {
  std::vector<std::string> tables;
  {
    Query rows = connection.query(Sql::uncounted_tables);
    while (rows.next()) tables.push_back(rows.text(0));
  }
  for (const std::string& table : tables) {
    std::string name;  // for use between quotes
    for (const char letter : table) name += letter == '"' ? std::string("\"\"") : std::string(1, letter);
    for (const char* what : {"INSERT", "UPDATE", "DELETE"}) {
      connection.script(("CREATE TRIGGER IF NOT EXISTS \"foreign_" + std::string(what) + "_" + name + "\" AFTER " +
                         what + " ON \"" + name + "\" BEGIN UPDATE wf_foreign_changes SET changes = changes + 3; END")
                            .c_str());
    }
  }
}

Result<void> apply(Connection& connection, const char* text, int schema) {
  Transaction transaction(connection);
  connection.script(text);
  count_foreign_changes(connection);
  connection.script(("PRAGMA application_id = " + std::to_string(application_id)).c_str());
  connection.script(("PRAGMA user_version = " + std::to_string(schema)).c_str());
  return transaction.commit();
}

}  // namespace

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
  if (empty) {
    // The pages of such a file have no room for checksums.
    if (connection.has_checksums() == false) {
      return Error{ErrorCode::invalid, "another program made this SQLite file; remove it to start with an empty store"};
    }
    return 0;
  }
  if (application != application_id) {
    return Error{ErrorCode::invalid, "this SQLite file holds something else, not a cairn store"};
  }
  if (schema > newest_schema()) return newer_schema_error(schema, newest_schema());
  if (schema < first_schema) return pre_release_error(schema);
  // A file that lost the mark in its header would be read as if it never had checksums.
  if (connection.has_checksums() == false) {
    return Error{ErrorCode::corrupt, "the store's file is damaged: its header says that pages have no checksums"};
  }
  return static_cast<int>(schema);
}

std::optional<Error> newer_schema(Connection& connection) {
  Query query = connection.query(Sql::user_version);
  if (!query.next() || query.integer(0) <= newest_schema()) return std::nullopt;
  return newer_schema_error(query.integer(0), newest_schema());
}

Result<void> migrate(Connection& connection) {
  CAIRN_TRY(const int from, read_schema(connection));
  if (from == 0) {
    if (auto done = apply(connection, schema_text, first_schema); !done) {
      return with_context(done.error(), "making the tables");
    }
  }
  for (const Migration& step : migrations()) {
    if (step.number <= from) continue;
    if (auto done = apply(connection, step.text, step.number); !done) {
      return with_context(done.error(), std::string("migration ") + step.name);
    }
  }
  return {};
}

Result<void> count_changes_of_new_tables(Connection& connection) {
  if (!connection.query(Sql::uncounted_tables).next()) {
    if (connection.error()) return *connection.error();
    return {};
  }
  Transaction transaction(connection);
  count_foreign_changes(connection);
  return transaction.commit();
}

bool has_foreign_changes(Connection& connection) { return connection.query(Sql::foreign_changes).next(); }
void forget_foreign_changes(Connection& connection) { connection.run(Sql::forget_foreign_changes); }

}  // namespace cairn::sqlite
