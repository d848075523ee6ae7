#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "http/server.h"

namespace cairn::http {

std::string gzip(std::string_view text);
// Empty if the text is not whole, or longer than `bytes_max` when it is unpacked.
std::optional<std::string> gunzip(std::string_view packed, std::size_t bytes_max);

// Whether an Accept-Encoding header allows gzip.
bool takes_gzip(std::string_view accept_encoding);

// Compresses a large body if the client accepts gzip. Always adds `Vary`. A response that says itself how it varies
// stays as it is.
void compress(Response& response, std::string_view accept_encoding);

}  // namespace cairn::http
