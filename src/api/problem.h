// Errors as RFC 9457 problem documents with stable types; docs/errors.md describes each of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/http_types.h"
#include "base/json.h"
#include "base/result.h"
#include "schema/schema.h"

namespace cairn::api {

// `name` is the stable last part of the type: not_found, version_moved, lease_lost, … A 503 with the name `unavailable`
// says when to retry.
Response problem(int status, std::string_view name, std::string_view title, std::string_view detail, Json more = {});
Response problem(const Error& error);
// The refusal by a limit. The problem has the members `limit` and `limit_value`, and those of `more`; the refusal is
// counted and logged. For 429 and 503 the answer says when to retry.
Response limit_problem(int status, std::string_view limit, std::int64_t value, std::string_view detail,
                       int retry_after_s = 1, Json more = {});
// 422 with errors: [{pointer, detail}].
Response problem(const std::vector<schema::Violation>& violations);
// 400 if a header is not UTF-8; empty otherwise. Headers reach the store (audit trail, keys), which takes only UTF-8.
std::optional<Response> refuse_headers(const Request& request);

}  // namespace cairn::api
