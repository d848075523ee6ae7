// The filter language, the same in `?filter=`, in bulk requests and on the command line:
//
//   status:suspended definition:loan.approval version:1.0.0 ref:LOAN-7 part.customer:C1
//   from:2026-01-01 to:2026-02-01T12:00:00Z parent:ID deleted:yes  "free words"
//   status:retrying step:charge    error:FINGERPRINT    data.customer.city:Bern
//
// Put values with spaces into double quotes: ref:"Loan 7". Words without a name are searched as text.
#pragma once

#include <string_view>

#include "base/limits.h"
#include "base/result.h"
#include "base/time.h"
#include "store/rows.h"

namespace cairn::api {

// Reads a time or a date; a date means its first instant, in UTC.
Result<Timestamp> time_of(std::string_view text);

// ErrorCode::limit if the search text is longer than `limits.search_length_max`.
Result<void> check_search(std::string_view text, const Limits& limits);

// Reads a status, or `retrying`. ErrorCode::invalid if it is neither.
Result<void> read_status(std::string_view text, InstanceFilter& filter);

// Adds the conditions of `text` to `filter`. ErrorCode::invalid names the wrong part.
Result<void> read_filter(std::string_view text, InstanceFilter& filter);
// Names: status, assignee, role, name, ref, instance, due (before), closed.
Result<void> read_filter(std::string_view text, TaskFilter& filter);

}  // namespace cairn::api
