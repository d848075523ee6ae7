// Small documents of the API (document_rows.h). The store does not read their bodies.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "instance/outbox_event.h"
#include "store/document_rows.h"
#include "store/rows.h"
#include "store/store_base.h"

namespace cairn {

class DocumentStore : public virtual StoreBase {
 public:
  // Writes the row if the stored one has `row.version`; 0: if there is none. Answers the new version, or nothing if
  // another caller was faster. The event, if given, is written to the outbox in the same transaction.
  virtual Result<std::optional<std::uint64_t>> put_document(const DocumentRow& row,
                                                            const std::optional<OutboxEvent>& event = {}) = 0;
  virtual Result<std::optional<DocumentRow>> find_document(const std::string& kind, const std::string& id) = 0;
  // Ordered by id.
  virtual Result<Page<DocumentRow>> list_documents(const DocumentFilter& filter, const PageRequest& page) = 0;
  // False if there was none.
  virtual Result<bool> remove_document(const std::string& kind, const std::string& id) = 0;
};

}  // namespace cairn
