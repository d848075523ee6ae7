// The rows of one instance in a PostgreSQL database, by table, with binary values.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

struct pg_conn;

namespace cairn::bench {

struct CloseConnection {
  void operator()(pg_conn* connection) const;
};
using PostgresHandle = std::unique_ptr<pg_conn, CloseConnection>;
Result<PostgresHandle> connect_to(const std::string& conninfo);
// Executes plain text without parameters.
Result<void> execute(pg_conn* connection, const std::string& text);

using Bytes = std::optional<std::string>;  // empty: NULL

struct PostgresTable {
  struct Column {
    std::string name;
    unsigned int type = 0;
    unsigned int array_type = 0;
    bool own_number = false;  // assigned by the server
  };
  std::vector<Column> columns;
  std::vector<std::size_t> key;                           // the columns of the primary key
  std::map<std::vector<Bytes>, std::vector<Bytes>> rows;  // by key, of one instance
};
using PostgresRows = std::map<std::string, PostgresTable>;

// Reads every table of the schema that refers to instances, by number or id.
Result<PostgresRows> rows_of(pg_conn* connection, const std::string& schema, const std::string& instance);

}  // namespace cairn::bench
