// Small line drawings that tell the kinds of steps and the states apart without colour.
#pragma once

#include "render/picture.h"

namespace cairn::render {

// In a square of 16 pixels with its corner at (x, y), in tenths of a pixel. Empty when the shape has none.
Path shape_icon(Shape shape, int x, int y);
// In a square of 12 pixels.
Path progress_icon(Progress progress, int x, int y);

}  // namespace cairn::render
