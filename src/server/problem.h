// Errors as RFC 9457 problem documents with stable types; docs/errors.md has a page for each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "schema/schema.h"
#include "server/http_server.h"

namespace cairn::server {

// `name` is the stable last part of the type: not_found, version_moved, lease_lost, …
Response problem(int status, std::string_view name, std::string_view title, std::string_view detail, Json more = {});
Response problem(const Error& error);
// 422 with errors: [{pointer, detail}].
Response problem(const std::vector<schema::Violation>& violations);

}  // namespace cairn::server
