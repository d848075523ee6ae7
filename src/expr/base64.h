// Base64 as in RFC 4648, with padding. Decoding also accepts text without padding.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cairn::expr {

std::string base64_encode(std::string_view bytes);
std::optional<std::string> base64_decode(std::string_view text);

}  // namespace cairn::expr
