#pragma once

#include <string>
#include <string_view>

#include "http/server.h"

namespace cairn::http {

std::string gzip(std::string_view text);

// Compresses a large body if the client accepts gzip. Always adds `Vary`.
void compress(Response& response, std::string_view accept_encoding);

}  // namespace cairn::http
