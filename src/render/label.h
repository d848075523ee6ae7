// Texts in a diagram: sanitized, measured and cut to the available space.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cairn::render {

// The text on one line, without characters that could affect their surroundings. Control characters, line breaks and
// runs of white space become one space. Direction overrides and isolates, byte order marks and noncharacters are
// removed. Bytes that are not UTF-8 become U+FFFD. Never longer than `label_bytes_max`.
std::string plain_text(std::string_view text);
inline constexpr std::size_t label_bytes_max = 2000;

// Advance width of one character in font units (font_widths.h).
int glyph_advance(char32_t code_point);

// Width in pixels at this size, rounded up. Wide East Asian characters and emoji count 1 em.
int text_width(std::string_view plain, int font_px);

// At most `lines_max` lines, none wider than `width`. Text that does not fit ends in an ellipsis. It breaks at spaces,
// after . _ - / and, if there is no such position, anywhere.
std::vector<std::string> wrap_text(std::string_view plain, int font_px, int width, std::size_t lines_max);

}  // namespace cairn::render
