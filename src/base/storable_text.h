// Text that every store and every reader of JSON accepts: bytes that are not UTF-8 and U+0000 become U+FFFD.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "base/utf8.h"

namespace cairn {

// At most `bytes_max` bytes; the cut splits no character.
inline std::string storable_text(std::string_view text, std::size_t bytes_max = std::string_view::npos) {
  constexpr std::string_view replacement = "\xEF\xBF\xBD";
  std::string out;
  while (!text.empty() && out.size() < bytes_max) {
    const std::size_t bad = std::min({find_invalid_utf8(text), text.find('\0'), text.size()});
    out += text.substr(0, bad);
    if (bad == text.size()) break;
    out += replacement;
    text.remove_prefix(bad + 1);
  }
  if (out.size() > bytes_max) {
    out.resize(bytes_max);
    const std::size_t bad = find_invalid_utf8(out);  // the cut may split a character
    if (bad != std::string::npos) out.resize(bad);
  }
  return out;
}

}  // namespace cairn
