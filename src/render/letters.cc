#include <algorithm>

#include "base/utf8.h"
#include "render/font_glyphs.h"
#include "render/font_widths.h"
#include "render/label.h"
#include "render/outlines.h"

namespace cairn::render {
namespace {

class GlyphReader {
 public:
  explicit GlyphReader(std::size_t offset) : at_(offset) {}

  int number() {
    unsigned value = 0;
    for (unsigned shift = 0; shift < 32; shift += 7) {
      const unsigned byte = glyph_data()[at_++];
      value |= (byte & 127u) << shift;
      if (byte < 128) break;
    }
    return static_cast<int>(value >> 1) ^ -static_cast<int>(value & 1);
  }
  bool on_curve() { return glyph_data()[at_++] != 0; }

 private:
  std::size_t at_;
};

struct OutlinePoint {
  long x;
  long y;
  bool on;
};

constexpr int curve_steps = 4;

// TrueType: between two points off the curve there is one on it, in the middle.
Polygon contour_polygon(const std::vector<OutlinePoint>& points) {
  std::vector<OutlinePoint> whole;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const OutlinePoint& here = points[i];
    const OutlinePoint& next = points[(i + 1) % points.size()];
    whole.push_back(here);
    if (!here.on && !next.on) whole.push_back({(here.x + next.x) / 2, (here.y + next.y) / 2, true});
  }
  const auto first = std::find_if(whole.begin(), whole.end(), [](const OutlinePoint& point) { return point.on; });
  if (first == whole.end()) return {};
  std::rotate(whole.begin(), first, whole.end());
  Polygon polygon;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (whole[i].on) {
      polygon.push_back({static_cast<int>(whole[i].x), static_cast<int>(whole[i].y)});
      continue;
    }
    const OutlinePoint& from = whole[i - 1];
    const OutlinePoint& to = whole[(i + 1) % whole.size()];
    for (int step = 1; step < curve_steps; ++step) {
      const long t = step;
      const long u = curve_steps - step;
      const auto at = [&](long a, long b, long c) {
        return static_cast<int>((u * u * a + 2 * u * t * b + t * t * c) / (curve_steps * curve_steps));
      };
      polygon.push_back({at(from.x, whole[i].x, to.x), at(from.y, whole[i].y, to.y)});
    }
  }
  return polygon;
}

// In font units times 64, so that curves keep their shape; y grows upwards.
std::vector<Polygon> glyph_polygons(char32_t code_point) {
  const auto places = glyph_places();
  const auto found =
      std::lower_bound(places.begin(), places.end(), code_point,
                       [](const GlyphPlace& place, char32_t wanted) { return place.code_point < wanted; });
  if (found == places.end() || found->code_point != code_point) {
    const int w = glyph_advance(code_point) * 64;
    if (w == 0) return {};
    const int h = font_units * 46;
    const int line = font_units * 5;
    return {{{line, 0}, {line, h}, {w - line, h}, {w - line, 0}},
            {{2 * line, line}, {w - 2 * line, line}, {w - 2 * line, h - line}, {2 * line, h - line}}};
  }
  GlyphReader reader(found->offset);
  std::vector<Polygon> polygons;
  long x = 0;
  long y = 0;
  for (int contours = reader.number(); contours > 0; --contours) {
    std::vector<OutlinePoint> points;
    for (int count = reader.number(); count > 0; --count) {
      const bool on = reader.on_curve();
      x += reader.number();
      y += reader.number();
      points.push_back({x * 64, y * 64, on});
    }
    if (points.size() > 2) polygons.push_back(contour_polygon(points));
  }
  return polygons;
}

}  // namespace

std::vector<Polygon> lettered(const Mark& text, int scale) {
  // 1/256 of a raster pixel per font unit, as a fraction with font_units below.
  const long size = static_cast<long>(text.font_px) * scale * 256;
  long units = 0;
  for (std::size_t at = 0; at < text.text.size();) {
    const CodePoint c = code_point_at(text.text, at);
    units += glyph_advance(c.value);
    at += c.size;
  }
  const long start = static_cast<long>(text.x) * scale * 256 / 10 -
                     (text.anchor == Anchor::middle ? units * size / font_units / 2 : 0);
  const long baseline = static_cast<long>(text.y) * scale * 256 / 10;
  std::vector<Polygon> polygons;
  units = 0;
  for (std::size_t at = 0; at < text.text.size();) {
    const CodePoint c = code_point_at(text.text, at);
    const long left = start + units * size / font_units;
    for (const Polygon& glyph : glyph_polygons(c.value)) {
      Polygon placed;
      placed.reserve(glyph.size());
      for (const Dot dot : glyph) {
        placed.push_back({static_cast<int>(left + dot.x * size / font_units / 64),
                          static_cast<int>(baseline - dot.y * size / font_units / 64)});
      }
      // The binary has one weight. Bold is the same letter drawn again, a little to the right.
      if (text.bold) {
        Polygon again = placed;
        for (Dot& dot : again) dot.x += static_cast<int>(size / 24);
        polygons.push_back(std::move(again));
      }
      polygons.push_back(std::move(placed));
    }
    units += glyph_advance(c.value);
    at += c.size;
  }
  return polygons;
}

}  // namespace cairn::render
