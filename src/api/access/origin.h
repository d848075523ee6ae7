// Which pages may talk to the server. A page of another site must not be able to act through somebody's
// browser, nor to read what a server on this machine says.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/server.h"

namespace cairn::server {

bool allowed_by_cors(std::string_view origin, const std::vector<std::string>& origins);
void add_cors(Response& response, std::string_view origin);
Response preflight();

// The refusal of a request that a foreign page makes, or that reached a server without authentication
// under a name that is not this machine's (a name that somebody points here).
std::optional<Response> foreign(const Request& request, const std::vector<std::string>& origins, bool authenticates);

}  // namespace cairn::server
