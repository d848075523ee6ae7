// The reports of `cairn verify` and `cairn doctor` as documents, for a store that is open here and for the API.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "store/store.h"

namespace cairn::api {

// {findings: [{invariant, subject, message}], instances, tasks, runs}. Reads the whole store.
Result<Json> verify_report(Store& store);
// {findings: [{grade: ok|look|BROKEN, what, advice}]}. Reads the whole store.
Json doctor_report(Store& store);

}  // namespace cairn::api
