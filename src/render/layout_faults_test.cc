#include <gtest/gtest.h>

#include <algorithm>

#include "render/layout_faults.h"

namespace cairn::render {
namespace {

struct Span {
  int x0, y0, x1, y1;
};

Span span_of(const Box& box) { return {box.x, box.y, box.x + box.width, box.y + box.height}; }
Span span_of(Point a, Point b) {
  return {std::min(a.x, b.x), std::min(a.y, b.y), std::max(a.x, b.x), std::max(a.y, b.y)};
}

bool overlap_inside(const Span& a, const Span& b) { return a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1; }
bool touch(const Span& a, const Span& b) { return a.x0 <= b.x1 && b.x0 <= a.x1 && a.y0 <= b.y1 && b.y0 <= a.y1; }
bool within(const Span& inner, const Span& outer) {
  return inner.x0 >= outer.x0 && inner.y0 >= outer.y0 && inner.x1 <= outer.x1 && inner.y1 <= outer.y1;
}
Span shrunk(Span span) { return {span.x0 + 1, span.y0 + 1, span.x1 - 1, span.y1 - 1}; }

struct Segment {
  int edge;
  Span span;
};

class Inspection {
 public:
  explicit Inspection(const Layout& layout) : layout_(layout) {
    for (std::size_t e = 0; e < layout.edges.size(); ++e) {
      const std::vector<Point>& points = layout.edges[e].points;
      for (std::size_t i = 1; i < points.size(); ++i) {
        if (points[i].x != points[i - 1].x && points[i].y != points[i - 1].y) fault("a slanted line in edge", e);
        segments_.push_back({static_cast<int>(e), span_of(points[i - 1], points[i])});
      }
    }
    std::sort(segments_.begin(), segments_.end(),
              [](const Segment& a, const Segment& b) { return a.span.x0 < b.span.x0; });
  }

  std::vector<std::string> run() {
    const Span picture{0, 0, layout_.width, layout_.height};
    for (std::size_t i = 0; i < layout_.nodes.size(); ++i) {
      if (!within(span_of(layout_.nodes[i].box), picture)) fault("outside the picture: node", i);
      for (std::size_t j = i + 1; j < layout_.nodes.size(); ++j) {
        if (overlap_inside(span_of(layout_.nodes[i].box), span_of(layout_.nodes[j].box)))
          fault("overlapping nodes", i, j);
      }
      look_at_lines(shrunk(span_of(layout_.nodes[i].box)), "a line through a node: edge, node", i, -1);
    }
    look_at_labels(picture);
    look_at_crossings(picture);
    look_at_containers();
    return std::move(faults_);
  }

 private:
  void fault(const char* what, std::size_t a) { faults_.push_back(std::string(what) + " " + std::to_string(a)); }
  void fault(const char* what, std::size_t a, std::size_t b) {
    faults_.push_back(std::string(what) + " " + std::to_string(a) + ", " + std::to_string(b));
  }

  void look_at_lines(const Span& area, const char* what, std::size_t index, int except) {
    for (const Segment& segment : segments_) {
      if (segment.span.x0 > area.x1) break;
      if (segment.edge != except && touch(segment.span, area))
        fault(what, static_cast<std::size_t>(segment.edge), index);
    }
  }

  void look_at_labels(const Span& picture) {
    for (std::size_t i = 0; i < layout_.edges.size(); ++i) {
      if (layout_.edges[i].label.text.empty()) continue;
      const Span label = span_of(layout_.edges[i].label.box);
      if (!within(label, picture)) fault("outside the picture: label of edge", i);
      look_at_lines(label, "a line through a label: edge, label of edge", i, -1);
      for (std::size_t j = 0; j < layout_.nodes.size(); ++j) {
        if (overlap_inside(label, span_of(layout_.nodes[j].box))) fault("a label on a node: edge, node", i, j);
      }
      for (std::size_t j = i + 1; j < layout_.edges.size(); ++j) {
        if (!layout_.edges[j].label.text.empty() && overlap_inside(label, span_of(layout_.edges[j].label.box))) {
          fault("overlapping labels of edges", i, j);
        }
      }
    }
  }

  // Lines of one head share the way out, and lines into one merge share the way in. Other lines may only meet at the
  // ends of both.
  bool belong_together(const Edge& a, const Edge& b) const {
    const bool ways_out = (a.choice || a.bypass) && (b.choice || b.bypass) && a.from == b.from;
    return ways_out || a.points.back() == b.points.back();
  }
  static bool is_end_of(const Edge& edge, Point point) {
    return edge.points.front() == point || edge.points.back() == point;
  }

  void look_at_crossings(const Span& picture) {
    for (std::size_t i = 0; i < segments_.size(); ++i) {
      const Segment& a = segments_[i];
      if (!within(a.span, picture)) fault("outside the picture: edge", static_cast<std::size_t>(a.edge));
      for (std::size_t j = i + 1; j < segments_.size() && segments_[j].span.x0 <= a.span.x1; ++j) {
        const Segment& b = segments_[j];
        if (a.edge == b.edge || !touch(a.span, b.span)) continue;
        const Edge& one = layout_.edges[static_cast<std::size_t>(a.edge)];
        const Edge& other = layout_.edges[static_cast<std::size_t>(b.edge)];
        const Span met{std::max(a.span.x0, b.span.x0), std::max(a.span.y0, b.span.y0), std::min(a.span.x1, b.span.x1),
                       std::min(a.span.y1, b.span.y1)};
        const bool single = met.x0 == met.x1 && met.y0 == met.y1;
        const bool inside_both =
            single && met.x0 > a.span.x0 && met.x0 < a.span.x1 && met.y0 > b.span.y0 && met.y0 < b.span.y1;
        const bool inside_both_turned =
            single && met.x0 > b.span.x0 && met.x0 < b.span.x1 && met.y0 > a.span.y0 && met.y0 < a.span.y1;
        if (inside_both || inside_both_turned) {
          fault("crossing edges", static_cast<std::size_t>(a.edge), static_cast<std::size_t>(b.edge));
        } else if (!belong_together(one, other)) {
          const Point at{met.x0, met.y0};
          if (!single || !is_end_of(one, at) || !is_end_of(other, at)) {
            fault("edges touch", static_cast<std::size_t>(a.edge), static_cast<std::size_t>(b.edge));
          }
        }
      }
    }
  }

  void look_at_containers() {
    for (std::size_t i = 0; i < layout_.containers.size(); ++i) {
      const Span box = span_of(layout_.containers[i].box);
      for (std::size_t j = 0; j < layout_.nodes.size(); ++j) {
        const Span node = span_of(layout_.nodes[j].box);
        if (touch(node, box) && !within(node, box)) fault("half inside a container: container, node", i, j);
      }
      for (std::size_t j = i + 1; j < layout_.containers.size(); ++j) {
        const Span other = span_of(layout_.containers[j].box);
        if (touch(other, box) && !within(other, box)) fault("containers overlap", i, j);
      }
    }
  }

  const Layout& layout_;
  std::vector<Segment> segments_;
  std::vector<std::string> faults_;
};

Layout two_nodes_and_a_line(Point from, Point to) {
  Layout layout;
  layout.width = layout.height = 200;
  layout.nodes.resize(2);
  layout.nodes[0].box = {10, 10, 40, 40};
  layout.nodes[1].box = {100, 10, 40, 40};
  layout.edges.resize(1);
  layout.edges[0].points = {from, to};
  return layout;
}

// The checker of the other tests must be able to fail.
TEST(LayoutFaults, FindsWhatIsWrong) {
  EXPECT_TRUE(layout_faults(two_nodes_and_a_line({50, 30}, {100, 30})).empty());
  EXPECT_EQ(layout_faults(two_nodes_and_a_line({5, 30}, {60, 30})).size(), 1u);
  EXPECT_EQ(layout_faults(two_nodes_and_a_line({60, 60}, {300, 60})).size(), 1u);
  EXPECT_EQ(layout_faults(two_nodes_and_a_line({60, 60}, {80, 80})).size(), 1u);

  Layout layout = two_nodes_and_a_line({50, 30}, {100, 30});
  layout.nodes[1].box.x = 49;
  EXPECT_FALSE(layout_faults(layout).empty());

  layout = two_nodes_and_a_line({50, 30}, {100, 30});
  layout.edges.push_back(layout.edges[0]);
  layout.edges[1].points = {{75, 10}, {75, 60}};
  EXPECT_EQ(layout_faults(layout).size(), 1u);
  layout.edges[1].points = {{75, 30}, {75, 60}};
  EXPECT_EQ(layout_faults(layout).size(), 1u) << "touches in the middle";
  layout.edges[1].points = {{100, 30}, {100, 60}};
  layout.nodes[1].box.x = 120;
  EXPECT_TRUE(layout_faults(layout).empty());
  layout.edges[1].label = {"x", "", {20, 20, 30, 10}};
  EXPECT_FALSE(layout_faults(layout).empty());
  layout.edges[1].label = {"x", "", {70, 25, 10, 10}};
  EXPECT_FALSE(layout_faults(layout).empty());
}

}  // namespace

std::vector<std::string> layout_faults(const Layout& layout) { return Inspection(layout).run(); }

}  // namespace cairn::render
