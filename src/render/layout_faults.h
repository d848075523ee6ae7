// For tests: finds everything that makes a layout ugly or wrong, from its geometry alone.
#pragma once

#include <string>
#include <vector>

#include "render/layout.h"

namespace cairn::render {

// One sentence per fault: overlaps, lines through nodes or labels, crossings, unrelated lines that touch, anything
// outside the picture or half inside a container. Empty for a good layout.
std::vector<std::string> layout_faults(const Layout& layout);

}  // namespace cairn::render
