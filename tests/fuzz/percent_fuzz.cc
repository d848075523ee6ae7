// Any text as part of a URL: decoding undoes encoding, the result is always UTF-8 without U+0000, and no encoded slash
// becomes a separator.
#include <algorithm>

#include "base/utf8.h"
#include "http/server.h"
#include "input.h"

namespace {

std::string encoded(std::string_view text, bool all) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (!all && c != '%' && c != '+') {
      out += c;
    } else {
      out += {'%', digits[byte >> 4], digits[byte & 15]};
    }
  }
  return out;
}

}  // namespace

void fuzz(std::string_view text) {
  using namespace cairn::http;
  std::string out;
  for (const bool plus : {false, true}) {
    if (!percent_decode(text, plus, out)) continue;
    CAIRN_ASSERT(cairn::is_utf8(out) && out.find('\0') == std::string::npos && out.size() <= text.size());
  }
  const bool storable = cairn::is_utf8(text) && text.find('\0') == std::string_view::npos;
  for (const bool all : {false, true}) {
    const bool decoded = percent_decode(encoded(text, all), true, out);
    CAIRN_ASSERT(decoded == storable && (!decoded || out == text));
  }
  // A text as one segment of a path.
  const bool decoded = decode_path(encoded(text, true), out);
  CAIRN_ASSERT(decoded == storable);
  if (decoded) CAIRN_ASSERT(out.find('/') == std::string::npos && path_value(out) == text);
  // Any path: it keeps its separators.
  if (decode_path(text, out)) {
    CAIRN_ASSERT(std::count(out.begin(), out.end(), '/') == std::count(text.begin(), text.end(), '/'));
    static_cast<void>(path_value(out));
  }
}
