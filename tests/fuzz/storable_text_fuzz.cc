// The first byte is the limit, the rest any text: the result is UTF-8 without U+0000 within the limit, and storable
// text that fits stays the same.
#include "base/storable_text.h"

#include "input.h"

void fuzz(std::string_view input) {
  const std::size_t bytes_max = cairn::fuzzing::take_byte(input);
  const std::string stored = cairn::storable_text(input, bytes_max);
  CAIRN_ASSERT(stored.size() <= bytes_max);
  CAIRN_ASSERT(cairn::is_utf8(stored) && stored.find('\0') == std::string::npos);
  CAIRN_ASSERT(cairn::storable_text(stored, bytes_max) == stored);
  const bool storable = cairn::is_utf8(input) && input.find('\0') == std::string_view::npos;
  if (!storable) return;
  CAIRN_ASSERT(cairn::storable_text(input) == input);
  CAIRN_ASSERT(input.starts_with(stored) && stored.size() + 4 > std::min(input.size(), bytes_max));
}
