#include "store/postgres/migrate.h"

#include "store/postgres/wire/lock_key.h"

namespace cairn::postgres {

int newest_schema() { return migrations().back().number; }

namespace {
int oldest_schema() { return migrations().front().number; }
}  // namespace

Error too_new() {
  return {ErrorCode::unsupported, "the store has a newer schema than " + std::to_string(newest_schema()) +
                                      ", the newest that this cairn knows; use the newer version that wrote it"};
}

Result<int> read_schema(Connection& connection) {
  if (!connection.query(Sql::find_version_table, connection.schema()).next()) {
    if (connection.error()) return *connection.error();
    return 0;
  }
  Rows rows = connection.query(Sql::read_version);
  const std::int64_t version = rows.next() ? rows.integer(0) : 0;
  if (connection.error()) return *connection.error();
  if (version > newest_schema()) {
    return Error{ErrorCode::unsupported, "the store has schema " + std::to_string(version) +
                                             ", this cairn knows up to " + std::to_string(newest_schema()) +
                                             "; use the newer version that wrote it"};
  }
  if (version > 0 && version < oldest_schema()) {
    return Error{ErrorCode::unsupported, "the store has schema " + std::to_string(version) +
                                             ", which no release ever had; this cairn begins with " +
                                             std::to_string(oldest_schema()) + ": give it a new schema"};
  }
  return static_cast<int>(version);
}

Result<void> migrate(Connection& connection) {
  CAIRN_TRY(int from, read_schema(connection));
  if (from == newest_schema()) return {};
  const std::string& schema = connection.schema();
  connection.query(Sql::begin);
  // A large store needs more than the statement timeout, and so does a node that waits for another node's migration.
  connection.query(Sql::migration_time);
  connection.query(Sql::migration_patience);
  connection.query(Sql::migration_lock, lock_key("migrate", schema));
  // Another node may have migrated while this one waited.
  CAIRN_TRY(from, read_schema(connection));
  if (from == 0) {
    if (!connection.query(Sql::find_schema, schema).next()) connection.script("CREATE SCHEMA " + schema);
    connection.script(
        for_schema("CREATE TABLE cairn.wf_schema (version integer NOT NULL, single boolean PRIMARY KEY DEFAULT true "
                   "CHECK (single));"
                   "INSERT INTO cairn.wf_schema (version) VALUES (0)",
                   schema));
  }
  for (const Migration& step : migrations()) {
    if (step.number <= from) continue;
    connection.script(for_schema(step.text, schema));
    if (connection.error()) return with_context(*connection.error(), std::string("migration ") + step.name);
  }
  connection.query(Sql::write_version, newest_schema());
  connection.query(Sql::commit);
  if (connection.error()) return *connection.error();
  return {};
}

}  // namespace cairn::postgres
