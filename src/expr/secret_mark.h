// What stands for a secret until a transport sends it: secret("name") gives U+E000 secret:name U+E001. Data
// may hold the same characters, so a request is sealed before it is stored: marks of secrets that the very
// expression names stay, and every other U+E000 becomes U+E000 U+E002. No data can then ask for a secret.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/json.h"

namespace cairn::expr {

inline constexpr std::string_view mark_begin = "\xEE\x80\x80";    // U+E000
inline constexpr std::string_view mark_end = "\xEE\x80\x81";      // U+E001
inline constexpr std::string_view mark_literal = "\xEE\x80\x82";  // U+E002, after U+E000: that character itself
inline constexpr std::string_view mark_kind = "secret:";

std::string secret_marker(std::string_view name);
// `value` as an expression gave it that names the secrets `named`.
Json seal(const Json& value, std::span<const std::string> named);

}  // namespace cairn::expr
