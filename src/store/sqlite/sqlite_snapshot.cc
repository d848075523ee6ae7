// Reads what an instance needs to continue.
#include "store/sqlite/reader.h"
#include "store/sqlite/sqlite_store.h"

namespace cairn {

using sqlite::Query;
using sqlite::Sql;

Result<std::optional<Snapshot>> SqliteStore::find_snapshot(const InstanceId& id) {
  Reader db = reader();
  const auto head = [&]() -> Result<std::optional<std::string>> {
    std::optional<std::string> bytes;
    {
      Query row = db->query(Sql::find_snapshot, id.value);
      if (row.next()) {
        if (row.is_null(0)) db->fail({ErrorCode::corrupt, "it has no snapshot"});
        bytes = row.text(0);
      }
    }
    return db.give(std::move(bytes));
  };
  const auto read = [&](const std::vector<std::string>& hashes) { return read_pieces(*db, hashes); };
  auto snapshot = load_apart(head, read);
  if (!snapshot) return with_context(snapshot.error(), "instance " + id.value);
  return snapshot;
}

}  // namespace cairn
