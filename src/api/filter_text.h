// The small language of filters, the same in `?filter=`, in bulk requests and on the command line:
//
//   status:suspended definition:loan.approval version:1.0.0 ref:LOAN-7 part.customer:C1
//   from:2026-01-01 to:2026-02-01T12:00:00Z parent:ID deleted:yes  "free words"
//
// A value with spaces stands in double quotes: ref:"Loan 7". Words without a name are text to look for.
#pragma once

#include <string_view>

#include "base/result.h"
#include "store/rows.h"

namespace cairn::server {

// The longest text that can be looked for, in characters.
inline constexpr std::size_t search_length_max = 200;
// ErrorCode::limit when the text of a search is longer.
Result<void> check_search(std::string_view text);

// Adds what `text` says to `filter`. ErrorCode::invalid names the part that is wrong.
Result<void> read_filter(std::string_view text, InstanceFilter& filter);
// status, assignee, role, name, ref, instance, due (before), closed.
Result<void> read_filter(std::string_view text, TaskFilter& filter);

}  // namespace cairn::server
