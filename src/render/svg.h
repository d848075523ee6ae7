// Writes a picture as SVG 1.1: rect, circle, path, text, g and title, with attributes only. No styles, no scripts, no
// references.
#pragma once

#include <string>

#include "render/layout.h"
#include "render/overlay.h"
#include "render/picture.h"

namespace cairn::render {

// A complete, self-contained file: role="img", a title, a description with the text tree, data-step on every step.
std::string svg_text(const Layout& layout, Theme theme = Theme::light, const Overlay* overlay = nullptr);

}  // namespace cairn::render
