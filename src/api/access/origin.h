// Which web pages may call the server. A page of another site must not act through a user's browser, nor read from a
// server on this machine.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/http_types.h"

namespace cairn::api {

bool allowed_by_cors(std::string_view origin, const std::vector<std::string>& origins);
void add_cors(Response& response, std::string_view origin);
Response preflight();

// Refuses requests from foreign pages. Also refuses requests to a server without authentication under a foreign host
// name (DNS rebinding).
std::optional<Response> foreign(const Request& request, const std::vector<std::string>& origins, bool authenticates);

}  // namespace cairn::api
