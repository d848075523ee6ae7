// Base64 for URLs (RFC 4648 §5), without padding.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cairn {

std::string base64url(std::string_view bytes);
// Empty if the text is not base64url.
std::optional<std::string> from_base64url(std::string_view text);

}  // namespace cairn
