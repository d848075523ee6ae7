// For tests: everything that would make a layout ugly or wrong, found by looking at the geometry alone.
#pragma once

#include <string>
#include <vector>

#include "render/layout.h"

namespace cairn::render {

// One sentence per fault: overlaps, lines through nodes or labels, crossings, lines that touch without belonging
// together, anything outside the picture or half inside a container. Empty for a good layout.
std::vector<std::string> layout_faults(const Layout& layout);

}  // namespace cairn::render
