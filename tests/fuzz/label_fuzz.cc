// Any bytes as a text in a picture: the result is one line of UTF-8 within its limit. Cleaned again it stays the same,
// and no line of it is wider than the space for it.
#include "render/label.h"

#include "base/utf8.h"
#include "input.h"

void fuzz(std::string_view input) {
  using namespace cairn::render;
  const int width = 40 + cairn::fuzzing::take_byte(input);
  const std::size_t lines_max = 1 + cairn::fuzzing::take_byte(input) % 4;
  const std::string plain = plain_text(input);
  CAIRN_ASSERT(plain.size() <= label_bytes_max && cairn::is_utf8(plain));
  for (const char c : plain) CAIRN_ASSERT(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
  CAIRN_ASSERT(plain.find("\xe2\x80\xae") == std::string::npos);  // U+202E
  CAIRN_ASSERT(plain_text(plain) == plain);
  const std::vector<std::string> lines = wrap_text(plain, 13, width, lines_max);
  CAIRN_ASSERT(lines.size() <= lines_max);
  for (const std::string& line : lines) CAIRN_ASSERT(cairn::is_utf8(line) && text_width(line, 13) <= width);
}
