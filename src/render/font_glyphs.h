// The outlines of the embedded font, for PNG. In SVG the viewer draws the letters.
#pragma once

#include <cstdint>
#include <span>

namespace cairn::render {

struct GlyphPlace {
  char32_t code_point;
  std::uint32_t offset;
};

// make_font_glyphs.py describes the bytes.
std::span<const std::uint8_t> glyph_data();
std::span<const GlyphPlace> glyph_places();  // sorted by code point

}  // namespace cairn::render
