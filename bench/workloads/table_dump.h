// Every row of a SQLite file as values, and the changes between two dumps.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"

struct sqlite3;

namespace cairn::bench {

using Value = std::variant<std::monostate, std::int64_t, double, std::string>;

struct Table {
  std::vector<std::string> columns;
  std::vector<std::size_t> key;                           // the columns of the primary key
  bool numbered = false;                                  // the key is one integer
  std::map<std::vector<Value>, std::vector<Value>> rows;  // by key
};
using Dump = std::map<std::string, Table>;

Result<Dump> dump_tables(sqlite3* database);

struct RowChange {
  enum class Kind { inserted, updated, removed };
  Kind kind = Kind::inserted;
  std::string table;
  std::vector<Value> before;  // empty if inserted
  std::vector<Value> after;   // empty if removed
};
// In the order of the tables; inserted rows in the order of their keys.
std::vector<RowChange> changes_between(const Dump& before, const Dump& after);

}  // namespace cairn::bench
