// Draws the picture as PNG with a small rasterizer of our own. It supports exactly what SVG pictures contain.
#pragma once

#include <string>

#include "base/result.h"
#include "render/layout.h"
#include "render/overlay.h"
#include "render/picture.h"

namespace cairn::render {

inline constexpr long png_pixels_max = 64'000'000;

// `scale` is pixels per unit of the layout. ErrorCode::limit if the picture would have more than `pixels_max` pixels.
// Drawing takes about 7 bytes of memory per pixel. Letters come from the embedded font (Latin, Greek, Cyrillic); others
// are drawn as boxes.
Result<std::string> png_bytes(const Layout& layout, Theme theme = Theme::light, int scale = 1,
                              const Overlay* overlay = nullptr, long pixels_max = png_pixels_max);

}  // namespace cairn::render
