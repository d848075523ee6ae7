// The reports of `cairn verify` and `cairn doctor` as documents, for a store that is open here and for the API.
#pragma once

#include <functional>

#include "base/json.h"
#include "base/result.h"
#include "store/store.h"

namespace cairn::api {

// Both read the whole store. `stop` is asked now and then; if it says yes, the answer is ErrorCode::unavailable.
// {findings: [{invariant, subject, message}], instances, tasks, runs}.
Result<Json> verify_report(Store& store, const std::function<bool()>& stop = {});
// {findings: [{grade: ok|look|BROKEN, what, advice}]}.
Result<Json> doctor_report(Store& store, const std::function<bool()>& stop = {});

}  // namespace cairn::api
