#include "render/raster.h"

#include <algorithm>
#include <climits>

namespace cairn::render {
namespace {

constexpr int unit = 256;
constexpr int rows_per_pixel = 8;
constexpr int full_cover = unit * rows_per_pixel;

int hex_digit(char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; }

int channel(std::string_view color, std::size_t index) {
  return hex_digit(color[1 + 2 * index]) * 16 + hex_digit(color[2 + 2 * index]);
}

}  // namespace

Raster::Raster(int width, int height)
    : width_(width),
      height_(height),
      pixels_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3, 255) {}

void Raster::clear(std::string_view color) {
  if (color.size() != 7) return;
  for (std::size_t c = 0; c < 3; ++c) {
    const auto value = static_cast<std::uint8_t>(channel(color, c));
    for (std::size_t i = c; i < pixels_.size(); i += 3) pixels_[i] = value;
  }
}

void Raster::cover_row(const std::vector<Side>& sides, int row, Cover& cover) const {
  struct Crossing {
    int x;
    int winding;
  };
  std::vector<Crossing> crossings;
  for (int part = 0; part < rows_per_pixel; ++part) {
    const int y = row * unit + part * unit / rows_per_pixel + unit / rows_per_pixel / 2;
    crossings.clear();
    for (const Side& side : sides) {
      if (y < side.from.y || y >= side.to.y) continue;
      const long rise = side.to.y - side.from.y;
      const long run = side.to.x - side.from.x;
      crossings.push_back({side.from.x + static_cast<int>(run * (y - side.from.y) / rise), side.winding});
    }
    std::sort(crossings.begin(), crossings.end(), [](const Crossing& a, const Crossing& b) { return a.x < b.x; });
    int winding = 0;
    for (std::size_t i = 0; i + 1 < crossings.size(); ++i) {
      winding += crossings[i].winding;
      if (winding == 0) continue;
      const int from = std::clamp(crossings[i].x, 0, width_ * unit);
      const int to = std::clamp(crossings[i + 1].x, 0, width_ * unit);
      if (from >= to) continue;
      const int first = from / unit;
      const int last = (to - 1) / unit;
      if (first == last) {
        cover.here[static_cast<std::size_t>(first)] += to - from;
        continue;
      }
      cover.here[static_cast<std::size_t>(first)] += (first + 1) * unit - from;
      cover.from[static_cast<std::size_t>(first) + 1] += unit;
      cover.from[static_cast<std::size_t>(last)] -= unit;
      cover.here[static_cast<std::size_t>(last)] += to - last * unit;
    }
  }
}

void Raster::fill(const std::vector<Polygon>& polygons, std::string_view color) {
  if (color.size() != 7) return;
  std::vector<Side> sides;
  int left = INT_MAX, right = INT_MIN, top = INT_MAX, bottom = INT_MIN;
  for (const Polygon& polygon : polygons) {
    for (std::size_t i = 0; i < polygon.size(); ++i) {
      const Dot a = polygon[i];
      const Dot b = polygon[(i + 1) % polygon.size()];
      left = std::min(left, a.x);
      right = std::max(right, a.x);
      top = std::min(top, a.y);
      bottom = std::max(bottom, a.y);
      if (a.y < b.y) sides.push_back({a, b, 1});
      if (a.y > b.y) sides.push_back({b, a, -1});
    }
  }
  if (sides.empty()) return;
  const int first_row = std::max(0, top / unit - 1);
  const int last_row = std::min(height_ - 1, bottom / unit);
  const int first_column = std::clamp(left / unit - 1, 0, width_ - 1);
  const int last_column = std::clamp(right / unit + 1, 0, width_ - 1);
  const int ink[3] = {channel(color, 0), channel(color, 1), channel(color, 2)};
  Cover cover{std::vector<int>(static_cast<std::size_t>(width_) + 2, 0),
              std::vector<int>(static_cast<std::size_t>(width_) + 2, 0)};
  std::vector<Side> active;
  for (int row = first_row; row <= last_row; ++row) {
    active.clear();
    for (const Side& side : sides) {
      if (side.from.y < (row + 1) * unit && side.to.y > row * unit) active.push_back(side);
    }
    if (active.empty()) continue;
    std::fill(cover.here.begin() + first_column, cover.here.begin() + last_column + 2, 0);
    std::fill(cover.from.begin() + first_column, cover.from.begin() + last_column + 2, 0);
    cover_row(active, row, cover);
    int running = 0;
    std::uint8_t* pixel = &pixels_[(static_cast<std::size_t>(row) * static_cast<std::size_t>(width_) +
                                    static_cast<std::size_t>(first_column)) *
                                   3];
    for (int x = first_column; x <= last_column; ++x, pixel += 3) {
      running += cover.from[static_cast<std::size_t>(x)];
      const int covered = std::min(running + cover.here[static_cast<std::size_t>(x)], full_cover);
      if (covered == 0) continue;
      for (int c = 0; c < 3; ++c) {
        if (covered == full_cover) {
          pixel[c] = static_cast<std::uint8_t>(ink[c]);
          continue;
        }
        const int change = (ink[c] - pixel[c]) * covered;
        pixel[c] = static_cast<std::uint8_t>(pixel[c] +
                                             (change + (change >= 0 ? full_cover / 2 : -full_cover / 2)) / full_cover);
      }
    }
  }
}

}  // namespace cairn::render
