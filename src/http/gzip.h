#pragma once

#include <string>
#include <string_view>

#include "http/server.h"

namespace cairn::server {

std::string gzip(std::string_view text);

// Compresses a large body when the client takes gzip; says in any case that it depends on that.
void compress(Response& response, std::string_view accept_encoding);

}  // namespace cairn::server
