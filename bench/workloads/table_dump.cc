#include "workloads/table_dump.h"

#include <sqlite3.h>

#include <memory>

namespace cairn::bench {

namespace {

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

Result<Statement> prepare(sqlite3* database, const std::string& text) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database, text.c_str(), -1, &statement, nullptr) != SQLITE_OK) {
    return Error{ErrorCode::internal, text + ": " + sqlite3_errmsg(database)};
  }
  return Statement(statement);
}

std::string text_of(sqlite3_stmt* statement, int column) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
  return text == nullptr ? std::string()
                         : std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(statement, column)));
}

Value value_of(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER: return sqlite3_column_int64(statement, column);
    case SQLITE_FLOAT: return sqlite3_column_double(statement, column);
    case SQLITE_NULL: return std::monostate();
    default: return text_of(statement, column);
  }
}

}  // namespace

Result<Dump> dump_tables(sqlite3* database) {
  Dump dump;
  CAIRN_TRY(const Statement names,
            prepare(database, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"));
  while (sqlite3_step(names.get()) == SQLITE_ROW) {
    const std::string name = text_of(names.get(), 0);
    Table& table = dump[name];
    CAIRN_TRY(const Statement columns,
              prepare(database, "SELECT name, type, pk FROM pragma_table_info('" + name + "')"));
    while (sqlite3_step(columns.get()) == SQLITE_ROW) {
      if (sqlite3_column_int(columns.get(), 2) > 0) {
        table.numbered = table.key.empty() && text_of(columns.get(), 1) == "INTEGER";
        table.key.push_back(table.columns.size());
      }
      table.columns.push_back(text_of(columns.get(), 0));
    }
    CAIRN_TRY(const Statement rows, prepare(database, "SELECT * FROM " + name));
    while (sqlite3_step(rows.get()) == SQLITE_ROW) {
      std::vector<Value> row;
      row.reserve(table.columns.size());
      for (int i = 0; i < sqlite3_column_count(rows.get()); ++i) row.push_back(value_of(rows.get(), i));
      std::vector<Value> key;
      for (const std::size_t column : table.key) key.push_back(row[column]);
      table.rows.emplace(std::move(key), std::move(row));
    }
  }
  return dump;
}

std::vector<RowChange> changes_between(const Dump& before, const Dump& after) {
  std::vector<RowChange> changes;
  for (const auto& [name, table] : after) {
    const auto old = before.find(name);
    for (const auto& [key, row] : table.rows) {
      if (old == before.end() || !old->second.rows.contains(key)) {
        changes.push_back({RowChange::Kind::inserted, name, {}, row});
      } else if (old->second.rows.at(key) != row) {
        changes.push_back({RowChange::Kind::updated, name, old->second.rows.at(key), row});
      }
    }
    if (old == before.end()) continue;
    for (const auto& [key, row] : old->second.rows) {
      if (!table.rows.contains(key)) changes.push_back({RowChange::Kind::removed, name, row, {}});
    }
  }
  return changes;
}

}  // namespace cairn::bench
