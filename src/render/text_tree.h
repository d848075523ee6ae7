// The picture as a tree of lines, for terminals and for those who cannot see the picture.
#pragma once

#include <string>

#include "render/layout.h"
#include "render/overlay.h"

namespace cairn::render {

// One line per step, indented by its depth. With an overlay each begins with its sign (✓ ● ◷ ! ✗ – ·) and ends with
// what it waits for, its attempt, its round and how long it took.
std::string text_tree(const Layout& layout, const Overlay* overlay = nullptr);

}  // namespace cairn::render
