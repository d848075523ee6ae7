// UTF-8, checked strictly: no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace cairn {

// The offset of the first byte that is not valid UTF-8, or npos.
std::size_t find_invalid_utf8(std::string_view text) noexcept;
inline bool is_utf8(std::string_view text) noexcept { return find_invalid_utf8(text) == std::string_view::npos; }

// The code point at `offset`, and its length in bytes. `offset` must be inside valid UTF-8.
struct CodePoint {
  char32_t value;
  std::uint8_t size;
};
CodePoint code_point_at(std::string_view text, std::size_t offset) noexcept;

void append_utf8(char32_t code_point, std::string& out);
std::size_t count_code_points(std::string_view text) noexcept;

// Line and column (both from 1, columns in code points) of a byte offset.
struct LineColumn {
  int line = 1;
  int column = 1;
  bool operator==(const LineColumn&) const = default;
};
LineColumn line_column_at(std::string_view text, std::size_t offset) noexcept;

}  // namespace cairn
