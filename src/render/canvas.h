// The surface on which blocks draw while they are placed. Blocks use two directions, along the main path and across it,
// so one description serves pictures that run down and pictures that run to the right.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "render/layout.h"

namespace cairn::render {

// A position. In a picture that runs down, `across` is x and `along` is y; in one that runs right, the reverse.
struct Spot {
  int across = 0;
  int along = 0;
};

// The text on an edge and the space it takes beside the edge.
struct EdgeLabel {
  std::string text;
  std::string whole;
  int width = 0;
  int across = 0;
  int along = 0;
};

// Distances that differ with the direction, in pixels.
struct Spacing {
  int along;         // between a step and the next
  int across;        // between columns
  int half_reserve;  // space that every column with steps keeps on both sides of its axis
};

class Canvas {
 public:
  explicit Canvas(Layout& layout) : layout_(layout) {}

  const Spacing& spacing() const;
  // The extents of a node, from its size.
  int across(int node) const;
  int along(int node) const;
  Shape shape(int node) const { return layout_.nodes[static_cast<std::size_t>(node)].shape; }
  EdgeLabel label(const std::string& text) const;
  // The distance from the end of a head to the start of its lanes.
  int lane_gap(const std::vector<EdgeLabel>& labels) const;

  void put_node(int node, Spot center);
  void stretch_across(int node, int length);
  void put_container(int header, Spot from, Spot to);
  Edge& line(std::initializer_list<Spot> spots, int from, int to);
  // Puts the label beside a leg of the edge that begins at `leg`, on the far side of its axis.
  void put_label(Edge& edge, const EdgeLabel& label, Spot leg) const;
  // Puts the label beside the end of a bar.
  void put_bar_label(Edge& edge, const EdgeLabel& label, Spot bar_end) const;

 private:
  bool down() const { return layout_.direction == Direction::down; }
  Point point(Spot spot) const;

  Layout& layout_;
};

inline constexpr int merge_gap = 14;  // above a merge line
inline constexpr int back_lane = 18;  // for a line inside a container
inline constexpr int container_pad = 14;
inline constexpr int empty_half = 8;  // half the width of a lane without steps

}  // namespace cairn::render
