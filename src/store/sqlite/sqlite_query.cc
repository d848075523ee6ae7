#include "store/row_filters.h"
#include "store/sqlite/reader.h"
#include "store/sqlite/row_reading.h"

namespace cairn {

using sqlite::json_text;
using sqlite::Query;
using sqlite::Sql;
using sqlite::text_or_null;
using sqlite::Transaction;

Result<PutDefinition> SqliteStore::put_definition(const DefinitionRow& row) {
  const std::lock_guard lock(writer_mutex_);
  if (auto refused = refusal()) return *refused;
  Transaction transaction(*writer_);
  {
    Query known = writer_->query(Sql::find_definition, row.name, row.version);
    if (known.next()) return known.text(2) == row.digest ? PutDefinition::same : PutDefinition::conflict;
  }
  writer_->run(Sql::insert_definition, row.name, row.version, row.digest, json_text(row.canonical), now());
  if (auto done = transaction.commit(); !done) return failed(done.error());
  return PutDefinition::added;
}

Result<std::optional<DefinitionRow>> SqliteStore::find_definition(const std::string& name,
                                                                  const std::optional<std::string>& version) {
  Reader db = reader();
  std::optional<DefinitionRow> found;
  {
    Query row =
        version ? db->query(Sql::find_definition, name, *version) : db->query(Sql::find_newest_definition, name);
    if (row.next()) found = sql::read_definition(row);
  }
  return db.give(std::move(found));
}

Result<Page<DefinitionRow>> SqliteStore::list_definitions(const PageRequest& request) {
  CAIRN_TRY(const std::int64_t cursor, sql::read_cursor(request.cursor, 0));
  Reader db = reader();
  Page<DefinitionRow> page;
  {
    Query rows = db->query(Sql::list_definitions, cursor, sqlite::no_limit);
    std::int64_t last = 0;
    while (rows.next()) {
      if (page.items.size() == request.limit) {
        page.next_cursor = std::to_string(last);
        break;
      }
      last = rows.integer(6);
      DefinitionRow row = sql::read_definition(rows);
      if (const auto fault = db->take_row_fault()) {
        page.unreadable.push_back("definition " + row.name + " " + row.version + ": " + fault->message);
        continue;
      }
      page.items.push_back(std::move(row));
    }
  }
  return db.give(std::move(page));
}

Result<bool> SqliteStore::retire_definition(const std::string& name, const std::string& version) {
  const std::lock_guard lock(writer_mutex_);
  if (auto refused = refusal()) return *refused;
  Transaction transaction(*writer_);
  const std::int64_t changed = writer_->run(Sql::retire_definition, name, version, now());
  if (auto done = transaction.commit(); !done) return failed(done.error());
  return changed == 1;
}

Result<std::optional<KeyAnswer>> SqliteStore::find_key(const std::string& scope, const std::string& key) {
  Reader db = reader();
  std::optional<KeyAnswer> found;
  {
    Query row = db->query(Sql::find_key, scope, key);
    if (row.next()) found = KeyAnswer{row.text(0), row.json(1)};
  }
  return db.give(std::move(found));
}

Result<std::optional<InstanceRow>> SqliteStore::find_instance(const InstanceId& id) {
  Reader db = reader();
  std::optional<InstanceRow> found;
  {
    Query row = db->query(Sql::find_instance, id.value);
    if (row.next()) found = sql::read_instance(row);
  }
  if (db->error()) return with_context(*db->error(), "instance " + id.value);
  return found;
}

// Rare statuses have their own index, so the number of other instances does not matter.
static Sql list_statement(std::optional<Status> status) {
  if (status == Status::running) return Sql::list_running;
  if (status == Status::suspended || status == Status::failed) return Sql::list_troubled;
  return Sql::list_instances;
}

Result<Page<InstanceRow>> SqliteStore::list_instances(const InstanceFilter& filter, const PageRequest& request) {
  CAIRN_TRY(const std::int64_t cursor, sql::read_cursor(request.cursor, INT64_MAX));
  Reader db = reader();
  Page<InstanceRow> page;
  std::optional<std::string_view> status, parent;
  if (filter.status) status = to_string(*filter.status);
  if (filter.parent) parent = filter.parent->value;
  const auto reference = text_or_null(filter.reference_key);
  // Without an index, rows are read until the page is full.
  const std::int64_t limit = sqlite::no_limit;
  {
    // The list of retrying instances is short, so it comes first.
    Query rows =
        filter.parent && !filter.retrying
            ? db->query(Sql::list_children, cursor, status, text_or_null(filter.definition), parent,
                        filter.started_from, filter.started_to, filter.deleted, limit, reference)
        : reference && !filter.retrying
            ? db->query(Sql::list_instances_by_reference, cursor, status, text_or_null(filter.definition), parent,
                        filter.started_from, filter.started_to, filter.deleted, limit, reference)
        : filter.retrying
            ? db->query(Sql::list_retrying, cursor, status, text_or_null(filter.definition), parent,
                        filter.started_from, filter.started_to, filter.deleted, limit, text_or_null(filter.step))
            : db->query(list_statement(filter.status), cursor, status, text_or_null(filter.definition), parent,
                        filter.started_from, filter.started_to, filter.deleted, limit);
    std::int64_t last = cursor;
    while (rows.next()) {
      InstanceRow row = sql::read_instance(rows);
      if (const auto fault = db->take_row_fault()) {
        page.unreadable.push_back("instance " + row.id.value + ": " + fault->message);
        continue;
      }
      if (!matches(row, filter)) continue;
      if (page.items.size() == request.limit) {
        page.next_cursor = std::to_string(last);
        break;
      }
      last = rows.integer(sql::instance_number_column);
      page.items.push_back(std::move(row));
    }
    pass_damage(*db, {"wf_instances_base", "wf_runtime_states"}, last, page.next_cursor);
  }
  return db.give(std::move(page));
}

Result<Page<HistoryRow>> SqliteStore::history(const InstanceId& id, const PageRequest& request) {
  CAIRN_TRY(const std::int64_t cursor, sql::read_cursor(request.cursor, 0));
  Reader db = reader();
  Page<HistoryRow> page;
  {
    Query rows = db->query(Sql::history, id.value, cursor, sqlite::no_limit);
    while (rows.next()) {
      if (page.items.size() == request.limit) {
        page.next_cursor = std::to_string(page.items.back().sequence);
        break;
      }
      HistoryRow row = sql::read_history(rows);
      if (const auto fault = db->take_row_fault()) {
        page.unreadable.push_back("history row " + std::to_string(row.sequence) + ": " + fault->message);
        continue;
      }
      page.items.push_back(std::move(row));
    }
  }
  return db.give(std::move(page));
}

Result<std::vector<Wait>> SqliteStore::list_waits(const InstanceId& id) {
  Reader db = reader();
  std::vector<Wait> waits;
  {
    Query rows = db->query(Sql::list_waits, id.value);
    while (rows.next()) waits.push_back(sql::read_wait(rows));
  }
  return db.give(std::move(waits));
}

}  // namespace cairn
