// The two views of an outline that need no positions: which node follows which, and the tree in reading order.
#pragma once

#include <vector>

#include "render/layout.h"

namespace cairn::render {

// Call it after `nodes_of`. `end` is the node of the end, or -1.
std::vector<Link> links_of(const Outline& outline, int start, int end);
std::vector<Row> rows_of(const Outline& outline);

}  // namespace cairn::render
