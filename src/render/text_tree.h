// The picture as a tree of lines, for terminals and screen readers.
#pragma once

#include <string>

#include "render/layout.h"
#include "render/overlay.h"

namespace cairn::render {

// One line per step, indented by its depth. With an overlay each line begins with its sign (✓ ● ◷ ! ✗ – ·) and ends
// with what it waits for, its attempt, its round and its duration.
std::string text_tree(const Layout& layout, const Overlay* overlay = nullptr);

}  // namespace cairn::render
