// The picture as PNG, drawn by a small rasteriser of our own: what SVG pictures contain, and nothing else.
#pragma once

#include <string>

#include "base/result.h"
#include "render/layout.h"
#include "render/overlay.h"
#include "render/picture.h"

namespace cairn::render {

inline constexpr long png_pixels_max = 64'000'000;

// `scale` is pixels per unit of the layout. ErrorCode::limit when the picture would have more than `pixels_max`.
// A picture takes about 7 bytes of memory for each pixel while it is drawn.
// Letters come from the embedded font (Latin, Greek, Cyrillic); others are drawn as boxes.
Result<std::string> png_bytes(const Layout& layout, Theme theme = Theme::light, int scale = 1,
                              const Overlay* overlay = nullptr, long pixels_max = png_pixels_max);

}  // namespace cairn::render
