#include "workloads/postgres_rows.h"

#include <libpq-fe.h>

namespace cairn::bench {

namespace {

struct Clear {
  void operator()(PGresult* result) const { PQclear(result); }
};
using Answer = std::unique_ptr<PGresult, Clear>;

Error failure(pg_conn* connection) {
  return {ErrorCode::unavailable, std::string("the ceiling's server: ") + PQerrorMessage(connection)};
}

Result<Answer> ask(pg_conn* connection, const std::string& text, const std::vector<std::string>& values, bool binary) {
  std::vector<const char*> pointers;
  pointers.reserve(values.size());
  for (const std::string& value : values) pointers.push_back(value.c_str());
  Answer answer(PQexecParams(connection, text.c_str(), static_cast<int>(values.size()), nullptr, pointers.data(),
                             nullptr, nullptr, binary ? 1 : 0));
  if (PQresultStatus(answer.get()) != PGRES_TUPLES_OK) return failure(connection);
  return answer;
}

std::string text_at(const Answer& answer, int row, int column) { return PQgetvalue(answer.get(), row, column); }

}  // namespace

void CloseConnection::operator()(pg_conn* connection) const { PQfinish(connection); }

Result<PostgresHandle> connect_to(const std::string& conninfo) {
  PostgresHandle connection(PQconnectdb(conninfo.c_str()));
  if (PQstatus(connection.get()) != CONNECTION_OK) return failure(connection.get());
  PQsetNoticeProcessor(
      connection.get(), [](void*, const char*) {}, nullptr);  // suppresses notices about removed objects
  return connection;
}

Result<void> execute(pg_conn* connection, const std::string& text) {
  const Answer answer(PQexec(connection, text.c_str()));
  const ExecStatusType status = PQresultStatus(answer.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) return failure(connection);
  return {};
}

Result<PostgresRows> rows_of(pg_conn* connection, const std::string& schema, const std::string& instance) {
  CAIRN_TRY(
      const Answer columns,
      ask(connection,
          "SELECT c.relname, a.attname, a.atttypid, t.typarray, a.attidentity <> '' AS own, "
          "coalesce(a.attnum = ANY (k.conkey), false) AS key "
          "FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped "
          "JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_constraint k ON k.conrelid = c.oid AND k.contype = 'p' "
          "WHERE c.relnamespace = $1::regnamespace AND c.relkind = 'r' ORDER BY c.relname, a.attnum",
          {schema}, false));
  PostgresRows tables;
  for (int row = 0; row < PQntuples(columns.get()); ++row) {
    PostgresTable& table = tables[text_at(columns, row, 0)];
    if (text_at(columns, row, 5) == "t") table.key.push_back(table.columns.size());
    table.columns.push_back({text_at(columns, row, 1), static_cast<unsigned int>(std::stoul(text_at(columns, row, 2))),
                             static_cast<unsigned int>(std::stoul(text_at(columns, row, 3))),
                             text_at(columns, row, 4) == "t"});
  }
  const std::string number = "(SELECT n FROM " + schema + ".wf_instances_base WHERE id = $1)";
  std::erase_if(tables, [](const auto& entry) { return entry.second.key.empty(); });
  for (auto& [name, table] : tables) {
    std::string where;
    if (name == "wf_instances_base") where = "id = $1";
    if (name == "wf_runtime_states") where = "n = " + number;
    for (const auto& column : table.columns) {
      constexpr unsigned int bigint = 20;
      if (column.name == "instance") where = column.type == bigint ? "instance = " + number : "instance = $1";
      if (column.name == "target" && column.type == bigint) where = "target = " + number;
    }
    if (where.empty()) continue;
    CAIRN_TRY(const Answer rows,
              ask(connection, "SELECT * FROM " + schema + "." + name + " WHERE " + where, {instance}, true));
    for (int row = 0; row < PQntuples(rows.get()); ++row) {
      std::vector<Bytes> values;
      for (int column = 0; column < PQnfields(rows.get()); ++column) {
        if (PQgetisnull(rows.get(), row, column)) {
          values.emplace_back();
        } else {
          values.emplace_back(std::string(PQgetvalue(rows.get(), row, column),
                                          static_cast<std::size_t>(PQgetlength(rows.get(), row, column))));
        }
      }
      std::vector<Bytes> key;
      for (const std::size_t at : table.key) key.push_back(values[at]);
      table.rows.emplace(std::move(key), std::move(values));
    }
  }
  return tables;
}

}  // namespace cairn::bench
