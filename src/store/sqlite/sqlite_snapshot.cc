// Reads what an instance needs to continue.
#include "store/sqlite/reader.h"
#include "store/sqlite/sqlite_store.h"

namespace cairn {

using sqlite::Query;
using sqlite::Sql;

Result<std::optional<Snapshot>> SqliteStore::find_snapshot(const InstanceId& id) {
  Reader db = reader();
  std::string bytes;
  bool found = false;
  {
    Query row = db->query(Sql::find_snapshot, id.value);
    if (row.next()) {
      found = true;
      if (row.is_null(0)) db->fail({ErrorCode::corrupt, "it has no snapshot"});
      bytes = row.text(0);
    }
  }
  if (db->error()) return with_context(*db->error(), "instance " + id.value);
  if (!found) return std::optional<Snapshot>();
  auto snapshot = decode_snapshot(bytes);
  if (!snapshot) return with_context(snapshot.error(), "instance " + id.value);
  return std::optional(std::move(*snapshot));
}

}  // namespace cairn
