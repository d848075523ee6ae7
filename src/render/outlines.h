// Turns marks into polygons: rounded corners, circles, curves, strokes with and without dashes, letters.
#pragma once

#include <string_view>
#include <vector>

#include "render/picture.h"
#include "render/raster.h"

namespace cairn::render {

// A line to fill or to stroke.
struct Track {
  std::vector<Dot> dots;
  bool closed = false;
};

// `scale` is pixels of the raster per pixel of the picture.
std::vector<Track> tracks_of(const Mark& mark, int scale);
std::vector<Polygon> filled(const std::vector<Track>& tracks);
// Width and dash in tenths of a picture pixel.
std::vector<Polygon> stroked(const std::vector<Track>& tracks, int width, int dash, int scale);
// A line of text. A letter that the font lacks becomes a box.
std::vector<Polygon> lettered(const Mark& text, int scale);

}  // namespace cairn::render
