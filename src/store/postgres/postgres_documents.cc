#include "store/postgres/wire/row_reading.h"
#include "store/postgres/wire/transaction.h"

namespace cairn {

using postgres::Rows;
using postgres::Sql;

namespace {

DocumentRow read_document(const Rows& rows) {
  return {rows.text(0), rows.text(1), rows.text(2), rows.json(3), static_cast<std::uint64_t>(rows.integer(4)),
          rows.time(5)};
}

}  // namespace

Result<std::optional<std::uint64_t>> PostgresStore::put_document(const DocumentRow& row,
                                                                 const std::optional<OutboxEvent>& event) {
  using Version = std::optional<std::uint64_t>;
  Wakeup wakeup;
  CAIRN_TRY(const Version version, write<Version>([&](Connection& db) -> Result<Version> {
              wakeup = {};
              const std::string body = write_json(row.body);
              const auto written = row.version == 0
                                       ? db.query(Sql::insert_document, row.kind, row.id, row.owner, body, now())
                                       : db.query(Sql::update_document, row.kind, row.id, row.owner, body, now(),
                                                  static_cast<std::int64_t>(row.version));
              if (written.changed() != 1) return Version();
              if (event) write_event(db, {}, {*event, !events_.dispatched}, wakeup);
              return Version(row.version + 1);
            }));
  if (wakeup.outbox) tell(wakeup);
  return version;
}

Result<std::optional<DocumentRow>> PostgresStore::find_document(const std::string& kind, const std::string& id) {
  return read<std::optional<DocumentRow>>([&](Connection& db) -> Result<std::optional<DocumentRow>> {
    Rows rows = db.query(Sql::find_document, kind, id);
    std::optional<DocumentRow> found;
    if (rows.next()) found = read_document(rows);
    if (rows.fault()) return *rows.fault();
    return found;
  });
}

Result<Page<DocumentRow>> PostgresStore::list_documents(const DocumentFilter& filter, const PageRequest& request) {
  return read<Page<DocumentRow>>([&](Connection& db) -> Result<Page<DocumentRow>> {
    const auto limit = static_cast<std::int64_t>(request.limit) + 1;
    Rows rows = filter.owner ? db.query(Sql::list_documents_of_owner, filter.kind, request.cursor, limit, *filter.owner)
                             : db.query(Sql::list_documents, filter.kind, request.cursor, limit);
    return postgres::read_page<DocumentRow>(rows, request.limit, read_document,
                                            [](const Rows& row) { return row.text(1); });
  });
}

Result<bool> PostgresStore::remove_document(const std::string& kind, const std::string& id) {
  return write<bool>(
      [&](Connection& db) -> Result<bool> { return db.query(Sql::remove_document, kind, id).changed() == 1; });
}

}  // namespace cairn
