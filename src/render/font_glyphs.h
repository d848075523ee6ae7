// Outlines of the one font, for pictures that are drawn here; SVG leaves letters to whoever shows it.
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
