// The picture of a definition as plain data: what is drawn, and where. Everything else (SVG, PNG, Mermaid, DOT, the
// tree in a terminal, the console) is made from this and decides nothing about places.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "render/outline.h"

namespace cairn::render {

// Grows when the same definition is drawn differently; part of cache keys.
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
  std::string part;                // which part of the step it draws, when not the step itself: option0, finally, when
  std::string text;                // all of it
  std::vector<std::string> lines;  // as it fits
  std::string detail;              // as it fits, below the lines
  Box box;
  bool target = false;  // a jump leads here
};

struct Label {
  std::string text;   // as it fits
  std::string whole;  // when that is not all of it
  Box box;
};

// A line, and what must have happened for it to count as taken: `from` and `to` are nodes, or -1 where it begins or
// ends in a merge.
struct Edge {
  LaneKind kind = LaneKind::flow;
  bool back = false;    // to the next round of a loop
  bool arrow = false;   // has a head at its last point
  bool choice = false;  // one of several ways that leave `from`
  bool bypass = false;  // the way taken when none of those is
  int from = -1;
  int to = -1;
  std::vector<Point> points;
  Label label;  // without text: none
};

struct Container {
  int header = -1;  // the node that names it
  Box box;
};

// Which node follows which, for formats that place things themselves.
struct Link {
  int from = -1;
  int to = -1;
  LaneKind kind = LaneKind::flow;
  bool back = false;
  std::string label;
};

// The tree in reading order: a node, or the label of a lane whose rows follow one deeper.
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
  std::string heading;  // the title as it fits
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

// Exact and without search: time and memory grow with the number of steps. Depth of nesting is that of the outline,
// which a definition's limits bound.
Layout layout_of(Outline outline, Direction direction = Direction::down);

// `layout.json`, and back. ErrorCode::invalid when it is not one that `layout_json` made for this version.
Json layout_json(const Layout& layout);
Result<Layout> read_layout(const Json& json);

}  // namespace cairn::render
