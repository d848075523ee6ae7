// Any bytes: the validator agrees with a decoder that is written straight from the definition of UTF-8, and valid text
// stays the same when it is decoded and encoded again.
#include "base/utf8.h"

#include "input.h"

namespace {

// The length of the well-formed character at the start of `text`; 0 if there is none.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  const std::uint32_t lead = byte(0);
  const std::size_t size = lead < 0x80 ? 1 : lead >> 5 == 6 ? 2 : lead >> 4 == 14 ? 3 : lead >> 3 == 30 ? 4 : 0;
  if (size == 0 || size > text.size()) return 0;
  std::uint32_t value = size == 1 ? lead : lead & (0x7fu >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if (byte(i) >> 6 != 2) return 0;
    value = value << 6 | (byte(i) & 0x3f);
  }
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xd800 && value <= 0xdfff;
  return value >= least[size] && value <= 0x10ffff && !surrogate ? size : 0;
}

}  // namespace

void fuzz(std::string_view text) {
  std::size_t bad = 0;
  std::size_t characters = 0;
  for (std::size_t size = 1; bad < text.size(); bad += size, ++characters) {
    size = character_bytes(text.substr(bad));
    if (size == 0) break;
  }
  const std::string_view valid = text.substr(0, bad);
  CAIRN_ASSERT(cairn::find_invalid_utf8(text) == (bad == text.size() ? std::string_view::npos : bad));
  CAIRN_ASSERT(cairn::count_code_points(valid) == characters);
  std::string again;
  for (std::size_t at = 0; at < valid.size();) {
    const cairn::CodePoint c = cairn::code_point_at(valid, at);
    cairn::append_utf8(c.value, again);
    at += c.size;
  }
  CAIRN_ASSERT(again == valid);
  const cairn::LineColumn end = cairn::line_column_at(valid, valid.size());
  CAIRN_ASSERT(end.line >= 1 && end.column >= 1 && static_cast<std::size_t>(end.line + end.column) <= characters + 2);
}
