#include "store/sqlite/migrate.h"

#include <string>

namespace cairn::sqlite {

namespace {
constexpr std::int64_t application_id = 0x63726e31;  // "crn1", in the file's header
}

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
  if (schema > newest_schema()) {
    return Error{ErrorCode::unsupported, "the store has schema " + std::to_string(schema) +
                                             ", this cairn knows up to " + std::to_string(newest_schema()) +
                                             "; use the newer version that wrote it"};
  }
  return static_cast<int>(schema);
}

Result<void> migrate(Connection& connection) {
  CAIRN_TRY(const int from, read_schema(connection));
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
  return {};
}

}  // namespace cairn::sqlite
