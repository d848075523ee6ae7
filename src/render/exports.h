// Plain text exports for other tools, which place everything themselves.
#pragma once

#include <string>

#include "render/layout.h"

namespace cairn::render {

// A Mermaid flowchart.
std::string mermaid_text(const Layout& layout);
// Graphviz.
std::string dot_text(const Layout& layout);

}  // namespace cairn::render
