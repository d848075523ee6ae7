#include <algorithm>
#include <unordered_set>

#include "render/nodes.h"
#include "render/sketch.h"

namespace cairn::render {
namespace {

constexpr int corner = 80;  // radius of a bend
constexpr int head_length = 70;
constexpr int head_half = 35;

int sign(int value) { return value > 0 ? 1 : value < 0 ? -1 : 0; }

// The line with rounded bends. It ends before the arrow head, so that a wide line does not show beyond the tip.
Path edge_path(const Edge& edge) {
  Path path;
  const std::vector<Point>& points = edge.points;
  for (std::size_t i = 0; i < points.size(); ++i) {
    int x = points[i].x * 10;
    int y = points[i].y * 10;
    if (i == 0) {
      path.push_back({PathStep::Op::move, x, y});
      continue;
    }
    const int dx = sign(points[i].x - points[i - 1].x);
    const int dy = sign(points[i].y - points[i - 1].y);
    if (i + 1 == points.size()) {
      if (edge.arrow) {
        x -= dx * (head_length - 10);
        y -= dy * (head_length - 10);
      }
      path.push_back({PathStep::Op::line, x, y});
      continue;
    }
    const auto length = [&](std::size_t a, std::size_t b) {
      return 10 * (std::abs(points[a].x - points[b].x) + std::abs(points[a].y - points[b].y));
    };
    const int radius = std::min({corner, length(i, i - 1) / 2, length(i, i + 1) / 2});
    const int next_dx = sign(points[i + 1].x - points[i].x);
    const int next_dy = sign(points[i + 1].y - points[i].y);
    path.push_back({PathStep::Op::line, x - dx * radius, y - dy * radius});
    path.push_back({PathStep::Op::curve, x + next_dx * radius, y + next_dy * radius, x, y});
  }
  return path;
}

Path arrow_head(const Edge& edge) {
  const Point tip = edge.points.back();
  const Point before = edge.points[edge.points.size() - 2];
  const int dx = sign(tip.x - before.x);
  const int dy = sign(tip.y - before.y);
  const int x = tip.x * 10;
  const int y = tip.y * 10;
  const int base_x = x - dx * head_length;
  const int base_y = y - dy * head_length;
  return {{PathStep::Op::move, x, y},
          {PathStep::Op::line, base_x - dy * head_half, base_y + dx * head_half},
          {PathStep::Op::line, base_x + dy * head_half, base_y - dx * head_half},
          {PathStep::Op::close}};
}

bool reached(const std::vector<StepProgress>& status, int node) {
  if (node < 0) return false;
  const Progress progress = status[static_cast<std::size_t>(node)].progress;
  return progress != Progress::not_reached && progress != Progress::skipped;
}

bool done(const std::vector<StepProgress>& status, int node) {
  return node >= 0 && status[static_cast<std::size_t>(node)].progress == Progress::done;
}

// The nodes that were left through a lane with steps, and therefore not through their bypass.
std::unordered_set<int> left_by_a_lane(const Layout& layout, const std::vector<StepProgress>& status) {
  std::unordered_set<int> nodes;
  for (const Edge& edge : layout.edges) {
    const bool returns = edge.kind != LaneKind::beside && edge.kind != LaneKind::compensation;
    if (edge.choice && returns && reached(status, edge.to)) nodes.insert(edge.from);
  }
  return nodes;
}

bool passed(const Edge& edge, const std::vector<StepProgress>& status, const std::unordered_set<int>& left) {
  if (edge.bypass) return done(status, edge.from) && !left.contains(edge.from);
  if (edge.back) {
    return edge.to >= 0 && status[static_cast<std::size_t>(edge.to)].iteration > 1;
  }
  return edge.to >= 0 ? reached(status, edge.to) : done(status, edge.from) && edge.kind == LaneKind::flow;
}

int dash_of(LaneKind kind) {
  switch (kind) {
    case LaneKind::flow: return 0;
    case LaneKind::failure:
    case LaneKind::timeout:
    case LaneKind::beside: return 40;
    case LaneKind::compensation: return 20;
  }
  return 0;
}

void draw_edge(Sketch& sketch, const Edge& edge, std::string_view color, int width) {
  sketch.path(edge_path(edge), {{}, color, width, dash_of(edge.kind)});
  if (edge.arrow) sketch.path(arrow_head(edge), {color, {}});
}

}  // namespace

void draw_edges(Sketch& sketch, const Layout& layout, const std::vector<StepProgress>& status) {
  std::vector<bool> taken(layout.edges.size(), false);
  if (!status.empty()) {
    const std::unordered_set<int> left = left_by_a_lane(layout, status);
    for (std::size_t i = 0; i < layout.edges.size(); ++i) taken[i] = passed(layout.edges[i], status, left);
  }
  const std::string_view idle = status.empty() ? sketch.colors.edge : sketch.colors.not_reached.stroke;
  for (std::size_t i = 0; i < layout.edges.size(); ++i) {
    if (!taken[i]) draw_edge(sketch, layout.edges[i], idle, 13);
  }
  // Merge lines share their last part, so taken lines are drawn on top.
  for (std::size_t i = 0; i < layout.edges.size(); ++i) {
    if (taken[i]) draw_edge(sketch, layout.edges[i], sketch.colors.done, 18);
  }
  for (const Edge& edge : layout.edges) {
    if (edge.label.text.empty()) continue;
    const Point baseline{edge.label.box.x, edge.label.box.y + 11};
    const bool cut = !edge.label.whole.empty();
    if (cut) sketch.open_group("label", "", edge.label.whole);
    sketch.text(baseline, edge.label.text, label_font_px, sketch.colors.edge_label, Anchor::start);
    if (cut) sketch.close_group();
  }
}

}  // namespace cairn::render
