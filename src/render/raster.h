// An image of pixels and its only drawing operation: filled polygons with smooth edges. It uses integers only, so the
// pixels are the same everywhere.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace cairn::render {

// In 1/256 of a pixel.
struct Dot {
  int x = 0;
  int y = 0;
};
using Polygon = std::vector<Dot>;  // closed by itself

class Raster {
 public:
  Raster(int width, int height);

  // Fills everything that at least one of the polygons surrounds. It uses the winding rule, so pieces may overlap, and
  // a hole is a polygon of the opposite orientation. `color` is "#rrggbb".
  void fill(const std::vector<Polygon>& polygons, std::string_view color);

  // Fills the whole image.
  void clear(std::string_view color);

  int width() const { return width_; }
  int height() const { return height_; }
  const std::vector<std::uint8_t>& pixels() const { return pixels_; }  // red, green, blue, row by row

 private:
  struct Side {
    Dot from;
    Dot to;
    int winding;
  };
  // The coverage of one row: for each pixel how much of it is covered, and how much coverage continues after it.
  struct Cover {
    std::vector<int> here;
    std::vector<int> from;
  };
  void cover_row(const std::vector<Side>& sides, int row, Cover& cover) const;

  int width_;
  int height_;
  std::vector<std::uint8_t> pixels_;
};

}  // namespace cairn::render
