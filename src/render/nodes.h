// Turns an outline into nodes: numbered in reading order, with wrapped texts and fixed sizes, but without positions.
#pragma once

#include <vector>

#include "render/layout.h"

namespace cairn::render {

// Half of an even size is exact.
inline int even(int value) { return value + (value & 1); }

// Every plain step has the same width, so adding or removing a step moves nothing sideways.
inline constexpr int step_width = 184;
inline constexpr int step_height = 40;
inline constexpr int step_height_detailed = 56;
inline constexpr int step_font_px = 12;
inline constexpr int detail_font_px = 10;
inline constexpr int label_font_px = 11;

// Sets `node` (and `join_node`) of every item. The first node is the start; the last is the end, unless nothing reaches
// it.
std::vector<Node> nodes_of(Outline& outline);

}  // namespace cairn::render
