// Removes the oldest rows of the audit trail after it has exported them. Each export is a file of JSON lines in a
// folder, audit-FROM-THROUGH.jsonl, whose last line is a signed seal (store/audit_chain.h). The order is: the file is
// on the disk, a row of the trail vouches for it, the rows are removed. After a crash the next sweep finds the file,
// compares it with the rows and continues, so nothing is lost and no row is exported twice.
#pragma once

#include <cstddef>
#include <string>

#include "engine/context.h"
#include "upkeep/stale_work.h"

namespace cairn {

// Exports and removes rows that are older than `age`, and answers how many were removed. Small exports wait for more
// rows, up to a quarter of `age` and a day. Rows that do not continue the chain stay: ErrorCode::corrupt.
Result<std::size_t> retire_audit(Store& store, const AuditArchive& archive, const std::string& node, Duration age,
                                 const MayContinue& may_continue);

}  // namespace cairn
