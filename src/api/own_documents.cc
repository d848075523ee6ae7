#include "api/own_documents.h"

#include "base/limit_refusals.h"

namespace cairn::api {

Result<DocumentRow> put_own(DocumentStore& store, DocumentRow row, std::size_t max) {
  constexpr int attempts_max = 5;
  for (int attempt = 0; attempt < attempts_max; ++attempt) {
    CAIRN_TRY(const auto known, store.find_document(row.kind, row.id));
    row.version = known ? known->version : 0;
    if (!known) {
      CAIRN_TRY(const auto others, store.list_documents({row.kind, row.owner}, {max, ""}));
      if (others.items.size() >= max) {
        return limit_error(row.kind + "s_per_person", static_cast<std::int64_t>(max),
                           row.owner + " has " + std::to_string(max) + " " + row.kind + "s; remove one first");
      }
    }
    CAIRN_TRY(const auto version, store.put_document(row));
    if (!version) continue;
    row.version = *version;
    row.changed_at = store.now();
    return row;
  }
  return Error{ErrorCode::conflict, "another request changes the same " + row.kind};
}

}  // namespace cairn::api
