#include "store/postgres/migrate.h"

#include "store/postgres/wire/lock_key.h"
#include "store/schema_errors.h"

namespace cairn::postgres {

Error too_new() {
  return {ErrorCode::unsupported,
          "the store has a newer schema than " + std::to_string(newest_schema()) +
              ", the newest that this version of cairn knows; use the newer version that wrote it"};
}

Result<int> read_schema(Connection& connection) {
  if (!connection.query(Sql::find_version_table, connection.schema()).next()) {
    if (connection.error()) return *connection.error();
    return 0;
  }
  Rows rows = connection.query(Sql::read_version);
  const std::int64_t version = rows.next() ? rows.integer(0) : 0;
  if (connection.error()) return *connection.error();
  if (version > newest_schema()) return newer_schema_error(version, newest_schema());
  if (version < first_schema) return pre_release_error(version);
  return static_cast<int>(version);
}

namespace {

// Where nodes run, there was a store: it was dropped under them, and a new one would hide the loss.
Result<void> refuse_beside_nodes(Connection& connection) {
  constexpr int tries_max = 20;  // the lock of a node that has just ended lives for a moment
  // The keys in pg_locks are unsigned.
  const std::int64_t key = static_cast<std::uint32_t>(present_class(connection.schema()));
  for (int tries = 0; connection.query(Sql::nodes_present, key).next(); ++tries) {
    if (tries == tries_max) {
      return Error{ErrorCode::conflict, "the tables of the schema " + connection.schema() +
                                            " are gone, but nodes still run on them; restore the tables, or stop these "
                                            "nodes to begin a new store"};
    }
    connection.query(Sql::pause_briefly);
  }
  return {};
}

// Tables of another program, for example of another library with runs in the same tables.
Result<void> refuse_foreign_tables(Connection& connection) {
  Rows rows = connection.query(Sql::foreign_tables, connection.schema());
  const std::int64_t count = rows.next() ? rows.integer(0) : 0;
  if (connection.error()) return *connection.error();
  if (count == 0) return {};
  constexpr std::int64_t shown = 10;  // as in the statement
  const std::string more = count > shown ? " and " + std::to_string(count - shown) + " more" : "";
  return Error{ErrorCode::conflict, "the schema " + connection.schema() +
                                        " already has tables or views that cairn did not make: " + rows.text(1) + more +
                                        "; use another schema (?schema=NAME), or move or drop these first"};
}

}  // namespace

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
    CAIRN_TRY_VOID(refuse_beside_nodes(connection));
    CAIRN_TRY_VOID(refuse_foreign_tables(connection));
    if (!connection.query(Sql::find_schema, schema).next()) connection.script("CREATE SCHEMA " + schema);
    connection.script(for_schema(schema_text, schema));
    if (connection.error()) return with_context(*connection.error(), "making the tables");
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
