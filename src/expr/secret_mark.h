// The placeholder of a secret until a transport sends it: secret("name") gives U+E000 secret:name U+E001. Data may
// contain the same characters, so a request is sealed before it is stored. Sealing keeps the marks of secrets that the
// expression itself names and replaces every other U+E000 by U+E000 U+E002. Data can therefore never request a secret.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/json.h"

namespace cairn::expr {

inline constexpr std::string_view mark_begin = "\xEE\x80\x80";    // U+E000
inline constexpr std::string_view mark_end = "\xEE\x80\x81";      // U+E001
inline constexpr std::string_view mark_literal = "\xEE\x80\x82";  // U+E002 after U+E000: a literal U+E000
inline constexpr std::string_view mark_kind = "secret:";

std::string secret_marker(std::string_view name);
// Seals `value`, the result of an expression that names the secrets `named`.
Json seal(const Json& value, std::span<const std::string> named);

}  // namespace cairn::expr
