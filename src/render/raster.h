// A picture of pixels and the one thing that is drawn on it: filled polygons with smooth edges. Whole numbers only, so
// that the same pixels come out everywhere.
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

  // Everything that at least one of the polygons surrounds, counted by winding, so that pieces may overlap and a hole
  // is a polygon that runs the other way. `color` is "#rrggbb".
  void fill(const std::vector<Polygon>& polygons, std::string_view color);

  // All of it.
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
  // What one row of pixels is covered by: at each pixel how much of it, and how much more from there on.
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
