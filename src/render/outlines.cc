#include "render/outlines.h"

#include <algorithm>
#include <cmath>

namespace cairn::render {
namespace {

// A quarter of a circle of radius 65536 in eight steps.
constexpr int quarter_steps = 8;
constexpr long quarter[quarter_steps + 1] = {65536, 64277, 60547, 54491, 46341, 36410, 25080, 12785, 0};
constexpr int arc_steps = 8;

int fixed(long tenths, int scale) { return static_cast<int>(tenths * scale * 256 / 10); }

// Adds an arc from angle 90° * first, clockwise on the screen.
void add_arc(std::vector<Dot>& dots, Dot centre, int radius, int first) {
  for (int i = 0; i <= quarter_steps; ++i) {
    const int a = static_cast<int>(quarter[i] * radius / 65536);
    const int b = static_cast<int>(quarter[quarter_steps - i] * radius / 65536);
    switch (first) {
      case 0: dots.push_back({centre.x + a, centre.y + b}); break;
      case 1: dots.push_back({centre.x - b, centre.y + a}); break;
      case 2: dots.push_back({centre.x - a, centre.y - b}); break;
      default: dots.push_back({centre.x + b, centre.y - a}); break;
    }
  }
}

std::vector<Dot> circle_dots(Dot centre, int radius) {
  std::vector<Dot> dots;
  for (int part = 0; part < 4; ++part) add_arc(dots, centre, radius, part);
  return dots;
}

Track rect_track(const Mark& mark, int scale) {
  const int left = fixed(mark.x, scale);
  const int top = fixed(mark.y, scale);
  const int right = fixed(mark.x + mark.width, scale);
  const int bottom = fixed(mark.y + mark.height, scale);
  const int radius = std::min({fixed(mark.radius, scale), (right - left) / 2, (bottom - top) / 2});
  Track track{{}, true};
  if (radius <= 0) {
    track.dots = {{right, bottom}, {left, bottom}, {left, top}, {right, top}};
    return track;
  }
  add_arc(track.dots, {right - radius, bottom - radius}, radius, 0);
  add_arc(track.dots, {left + radius, bottom - radius}, radius, 1);
  add_arc(track.dots, {left + radius, top + radius}, radius, 2);
  add_arc(track.dots, {right - radius, top + radius}, radius, 3);
  return track;
}

void add_curve(std::vector<Dot>& dots, Dot control, Dot to) {
  const Dot from = dots.back();
  for (int i = 1; i <= arc_steps; ++i) {
    const long t = i;
    const long u = arc_steps - i;
    const auto at = [&](long a, long b, long c) {
      return static_cast<int>((u * u * a + 2 * u * t * b + t * t * c) / (arc_steps * arc_steps));
    };
    dots.push_back({at(from.x, control.x, to.x), at(from.y, control.y, to.y)});
  }
}

std::vector<Track> path_tracks(const Path& path, int scale) {
  std::vector<Track> tracks;
  for (const PathStep& step : path) {
    const Dot to{fixed(step.x, scale), fixed(step.y, scale)};
    if (step.op == PathStep::Op::move || tracks.empty()) {
      tracks.push_back({{to}, false});
    } else if (step.op == PathStep::Op::close) {
      tracks.back().closed = true;
    } else if (step.op == PathStep::Op::line) {
      tracks.back().dots.push_back(to);
    } else {
      add_curve(tracks.back().dots, {fixed(step.control_x, scale), fixed(step.control_y, scale)}, to);
    }
  }
  return tracks;
}

// All pieces of a stroke have the same orientation, so that overlaps add up instead of cancelling.
void add_turned(std::vector<Polygon>& polygons, Polygon polygon) {
  long area = 0;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Dot a = polygon[i];
    const Dot b = polygon[(i + 1) % polygon.size()];
    area += static_cast<long>(a.x) * b.y - static_cast<long>(b.x) * a.y;
  }
  if (area < 0) std::reverse(polygon.begin(), polygon.end());
  polygons.push_back(std::move(polygon));
}

void add_bar(std::vector<Polygon>& polygons, Dot a, Dot b, int half) {
  const double dx = b.x - a.x;
  const double dy = b.y - a.y;
  const double length = std::sqrt(dx * dx + dy * dy);
  if (length < 1) return;
  const int nx = static_cast<int>(std::lround(-dy / length * half));
  const int ny = static_cast<int>(std::lround(dx / length * half));
  add_turned(polygons, {{a.x + nx, a.y + ny}, {b.x + nx, b.y + ny}, {b.x - nx, b.y - ny}, {a.x - nx, a.y - ny}});
}

// The state of the dashes, carried from one piece of a line to the next.
struct DashState {
  double left;
  bool drawing = true;
};

void add_dashes(std::vector<Polygon>& polygons, Dot a, Dot b, int half, int dash, DashState& state) {
  const double dx = b.x - a.x;
  const double dy = b.y - a.y;
  const double length = std::sqrt(dx * dx + dy * dy);
  double at = 0;
  while (at < length) {
    const double step = std::min(state.left, length - at);
    const auto along = [&](double distance) {
      return Dot{a.x + static_cast<int>(std::lround(dx * distance / length)),
                 a.y + static_cast<int>(std::lround(dy * distance / length))};
    };
    if (state.drawing) add_bar(polygons, along(at), along(at + step), half);
    at += step;
    state.left -= step;
    if (state.left <= 0) {
      state.left = dash;
      state.drawing = !state.drawing;
    }
  }
}

}  // namespace

std::vector<Track> tracks_of(const Mark& mark, int scale) {
  switch (mark.kind) {
    case Mark::Kind::rect: return {rect_track(mark, scale)};
    case Mark::Kind::circle:
      return {{circle_dots({fixed(mark.x, scale), fixed(mark.y, scale)}, fixed(mark.radius, scale)), true}};
    case Mark::Kind::path: return path_tracks(mark.path, scale);
    case Mark::Kind::group:
    case Mark::Kind::group_end:
    case Mark::Kind::text: break;
  }
  return {};
}

std::vector<Polygon> filled(const std::vector<Track>& tracks) {
  std::vector<Polygon> polygons;
  polygons.reserve(tracks.size());
  for (const Track& track : tracks) polygons.push_back(track.dots);
  return polygons;
}

std::vector<Polygon> stroked(const std::vector<Track>& tracks, int width, int dash, int scale) {
  std::vector<Polygon> polygons;
  const int half = fixed(width, scale) / 2;
  const int dash_length = fixed(dash, scale);
  for (const Track& track : tracks) {
    const std::size_t count = track.dots.size();
    DashState state{static_cast<double>(dash_length)};
    const std::size_t pieces = track.closed ? count : count - 1;
    for (std::size_t i = 0; i < pieces; ++i) {
      const Dot a = track.dots[i];
      const Dot b = track.dots[(i + 1) % count];
      if (dash > 0) {
        add_dashes(polygons, a, b, half, dash_length, state);
        continue;
      }
      add_bar(polygons, a, b, half);
      if (i > 0 || track.closed) add_turned(polygons, circle_dots(a, half));
    }
  }
  return polygons;
}

}  // namespace cairn::render
