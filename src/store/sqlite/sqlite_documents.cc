#include "store/projection.h"
#include "store/sqlite/reader.h"
#include "store/sqlite/row_reading.h"

namespace cairn {

using sqlite::json_text;
using sqlite::Query;
using sqlite::Sql;
using sqlite::Transaction;

namespace {

DocumentRow read_document(const Query& query) {
  return {query.text(0), query.text(1), query.text(2), query.json(3), static_cast<std::uint64_t>(query.integer(4)),
          query.time(5)};
}

}  // namespace

Result<std::optional<std::uint64_t>> SqliteStore::put_document(const DocumentRow& row,
                                                               const std::optional<OutboxEvent>& event) {
  Wakeup wakeup;
  std::int64_t changed = 0;
  {
    const std::lock_guard lock(writer_mutex_);
    if (auto refused = refusal()) return *refused;
    Transaction transaction(*writer_);
    const std::string body = json_text(row.body);
    changed = row.version == 0 ? writer_->run(Sql::insert_document, row.kind, row.id, row.owner, body, now())
                               : writer_->run(Sql::update_document, row.kind, row.id, row.owner, body, now(),
                                              static_cast<std::int64_t>(row.version));
    if (event && changed > 0) write_event({}, {*event, !events_.dispatched}, wakeup);
    if (auto done = transaction.commit(); !done) return failed(done.error());
  }
  if (wakeup.outbox) tell(wakeup);
  return changed == 0 ? std::optional<std::uint64_t>() : std::optional(row.version + 1);
}

Result<std::optional<DocumentRow>> SqliteStore::find_document(const std::string& kind, const std::string& id) {
  Reader db = reader();
  std::optional<DocumentRow> found;
  {
    Query row = db->query(Sql::find_document, kind, id);
    if (row.next()) found = read_document(row);
  }
  return db.give(std::move(found));
}

Result<Page<DocumentRow>> SqliteStore::list_documents(const DocumentFilter& filter, const PageRequest& request) {
  Reader db = reader();
  Page<DocumentRow> page;
  {
    const auto limit = static_cast<std::int64_t>(request.limit + 1);
    Query rows = filter.owner
                     ? db->query(Sql::list_documents_of_owner, filter.kind, request.cursor, limit, *filter.owner)
                     : db->query(Sql::list_documents, filter.kind, request.cursor, limit);
    while (rows.next()) {
      if (page.items.size() == request.limit) {
        page.next_cursor = page.items.back().id;
        break;
      }
      page.items.push_back(read_document(rows));
    }
  }
  return db.give(std::move(page));
}

Result<bool> SqliteStore::remove_document(const std::string& kind, const std::string& id) {
  const std::lock_guard lock(writer_mutex_);
  if (auto refused = refusal()) return *refused;
  Transaction transaction(*writer_);
  const bool there = writer_->run(Sql::remove_document, kind, id) > 0;
  if (auto done = transaction.commit(); !done) return failed(done.error());
  return there;
}

}  // namespace cairn
