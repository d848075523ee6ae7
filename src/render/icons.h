// Small line drawings that distinguish the kinds of steps and the states without colour.
#pragma once

#include "render/picture.h"

namespace cairn::render {

// An icon in a square of 16 pixels with its corner at (x, y), in tenths of a pixel. Empty if the shape has none.
Path shape_icon(Shape shape, int x, int y);
// An icon in a square of 12 pixels.
Path progress_icon(Progress progress, int x, int y);

}  // namespace cairn::render
