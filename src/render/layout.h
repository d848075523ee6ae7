// src/render draws workflow definitions: layout, SVG, PNG, Mermaid, DOT and the text tree for terminals. It uses
// src/definition; it does no I/O and knows nothing of stores. A Layout is the picture as plain data: what is drawn, and
// where. Every format is made from it and decides nothing about positions, except Mermaid and DOT, whose tools place
// everything themselves. An Overlay (overlay.h) adds the progress of an instance. Read `layout_of` in this file first,
// then `draw` in drawing.h and outline.h.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "render/outline.h"

namespace cairn::render {

// Part of cache keys. Increase it when the same definition is drawn differently.
inline constexpr int layout_version = 1;

enum class Direction { down, right };

// Pixels; every coordinate is a whole number.
struct Point {
  int x = 0;
  int y = 0;
  bool operator==(const Point&) const = default;
};
struct Box {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;
  bool operator==(const Box&) const = default;
};

struct Node {
  Shape shape = Shape::action;
  std::string step;                // the step's id; empty for start and end
  std::string part;                // the part of the step, if not the step itself: option0, finally, when
  std::string text;                // the whole text
  std::vector<std::string> lines;  // the text wrapped to fit
  std::string detail;              // cut to fit, below the lines
  Box box;
  bool target = false;  // a jump leads to it
};

struct Label {
  std::string text;   // cut to fit
  std::string whole;  // the whole text, if it was cut
  Box box;
};

// A line. It counts as taken when `from` and `to` have happened. They are nodes, or -1 where the line begins or ends in
// a merge.
struct Edge {
  LaneKind kind = LaneKind::flow;
  bool back = false;    // to the next round of a loop
  bool arrow = false;   // has an arrow head at its last point
  bool choice = false;  // one of several ways that leave `from`
  bool bypass = false;  // the way taken if none of the choices is
  int from = -1;
  int to = -1;
  std::vector<Point> points;
  Label label;  // empty text: no label
};

struct Container {
  int header = -1;  // the node that names it
  Box box;
};

// Which node follows which, for formats whose tools place the nodes.
struct Link {
  int from = -1;
  int to = -1;
  LaneKind kind = LaneKind::flow;
  bool back = false;
  std::string label;
};

// The tree in reading order: a node, or the label of a lane whose rows follow one level deeper.
struct Row {
  int depth = 0;
  int node = -1;
  LaneKind kind = LaneKind::flow;
  std::string lane;
};

struct Layout {
  std::string name;
  std::string version;
  std::string title;
  std::string heading;  // the title, cut to fit
  std::string digest;
  Direction direction = Direction::down;
  int width = 0;
  int height = 0;
  std::vector<Node> nodes;
  std::vector<Edge> edges;
  std::vector<Container> containers;  // outer ones first
  std::vector<Link> links;
  std::vector<Row> rows;
};

// The algorithm is exact and does not search: time and memory grow with the number of steps. The nesting depth is that
// of the outline, which the limits of a definition bound.
Layout layout_of(Outline outline, Direction direction = Direction::down);

// Writes `layout.json` and reads it back. ErrorCode::invalid if `layout_json` of this version did not write it.
Json layout_json(const Layout& layout);
Result<Layout> read_layout(const Json& json);

}  // namespace cairn::render
