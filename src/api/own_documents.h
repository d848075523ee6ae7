// Documents of one person: drafts and saved views (store/document_rows.h).
#pragma once

#include <string>

#include "api/route.h"
#include "store/document_store.h"

namespace cairn::api {

// Writes the document whatever version it has; the last writer wins. ErrorCode::limit if the person has `max` others.
Result<DocumentRow> put_own(DocumentStore& store, DocumentRow row, std::size_t max);

}  // namespace cairn::api
