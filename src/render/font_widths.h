// The advance widths of the font that diagrams are measured with. They make a layout the same on every machine.
#pragma once

#include <cstdint>
#include <span>

namespace cairn::render {

struct WidthRange {
  char32_t first;
  char32_t last;
  const std::uint16_t* widths;  // one for each code point from first to last, in font units
};

extern const int font_units;     // per em
extern const int unknown_width;  // for characters without a glyph: 0.6 em
std::span<const WidthRange> width_ranges();

}  // namespace cairn::render
