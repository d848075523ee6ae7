// ASCII tests that do not depend on the locale and take any byte.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/ascii.h"

namespace cairn::schema {

constexpr bool is_letter_or_digit(char c) { return is_digit(c) || is_letter(c); }

// The value of a hexadecimal digit, or -1.
constexpr int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

constexpr bool is_percent_escape(std::string_view text, std::size_t at) {
  return at + 2 < text.size() && text[at] == '%' && hex_digit(text[at + 1]) >= 0 && hex_digit(text[at + 2]) >= 0;
}

}  // namespace cairn::schema
