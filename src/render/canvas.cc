#include "render/canvas.h"

#include <algorithm>

#include "render/label.h"
#include "render/nodes.h"

namespace cairn::render {
namespace {

constexpr Spacing spacing_down{30, 36, step_width / 2};
constexpr Spacing spacing_right{36, 28, step_height_detailed / 2};
constexpr int edge_label_width_max = 168;
constexpr int edge_label_height = 14;
constexpr int edge_label_offset = 6;

}  // namespace

const Spacing& Canvas::spacing() const { return down() ? spacing_down : spacing_right; }

int Canvas::across(int node) const {
  const Box& box = layout_.nodes[static_cast<std::size_t>(node)].box;
  return down() ? box.width : box.height;
}

int Canvas::along(int node) const {
  const Box& box = layout_.nodes[static_cast<std::size_t>(node)].box;
  return down() ? box.height : box.width;
}

EdgeLabel Canvas::label(const std::string& text) const {
  EdgeLabel made;
  if (text.empty()) return made;
  std::vector<std::string> lines = wrap_text(text, label_font_px, edge_label_width_max, 1);
  if (lines.empty()) return made;
  made.text = std::move(lines.front());
  if (made.text != text) made.whole = text;
  made.width = even(text_width(made.text, label_font_px));
  made.across = down() ? edge_label_offset + made.width + 4 : edge_label_height + 6;
  made.along = down() ? edge_label_height + 6 : made.width + 16;
  return made;
}

int Canvas::lane_gap(const std::vector<EdgeLabel>& labels) const {
  int gap = spacing().along;
  for (const EdgeLabel& label : labels) {
    if (label.width > 0) gap = std::max(gap, label.along + (down() ? 18 : 12));
  }
  return gap;
}

Point Canvas::point(Spot spot) const {
  return down() ? Point{spot.across, spot.along} : Point{spot.along, spot.across};
}

void Canvas::put_node(int node, Spot center) {
  Box& box = layout_.nodes[static_cast<std::size_t>(node)].box;
  const Point middle = point(center);
  box.x = middle.x - box.width / 2;
  box.y = middle.y - box.height / 2;
}

void Canvas::stretch_across(int node, int length) {
  Box& box = layout_.nodes[static_cast<std::size_t>(node)].box;
  (down() ? box.width : box.height) = length;
}

void Canvas::put_container(int header, Spot from, Spot to) {
  const Point a = point(from);
  const Point b = point(to);
  layout_.containers.push_back({header, {a.x, a.y, b.x - a.x, b.y - a.y}});
}

Edge& Canvas::line(std::initializer_list<Spot> spots, int from, int to) {
  Edge& edge = layout_.edges.emplace_back();
  edge.from = from;
  edge.to = to;
  edge.points.reserve(spots.size());
  for (const Spot spot : spots) edge.points.push_back(point(spot));
  return edge;
}

void Canvas::put_label(Edge& edge, const EdgeLabel& label, Spot leg) const {
  if (label.width == 0) return;
  const Point at = point(leg);
  const Point corner = down() ? Point{at.x + edge_label_offset, at.y + 5} : Point{at.x + 8, at.y + 4};
  edge.label = {label.text, label.whole, {corner.x, corner.y, label.width, edge_label_height}};
}

void Canvas::put_bar_label(Edge& edge, const EdgeLabel& label, Spot bar_end) const {
  if (label.width == 0) return;
  const Point at = point(bar_end);
  const Point corner =
      down() ? Point{at.x + edge_label_offset, at.y - edge_label_height / 2} : Point{at.x - label.width, at.y + 4};
  edge.label = {label.text, label.whole, {corner.x, corner.y, label.width, edge_label_height}};
}

}  // namespace cairn::render
