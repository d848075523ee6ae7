// One drawing, described by option names. The command line and the HTTP routes share it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "render/layout.h"
#include "render/overlay.h"
#include "render/picture.h"
#include "render/png.h"

namespace cairn::render {

enum class Format { svg, png, mermaid, dot, json, text };
// Accepts svg, png, mmd or mermaid, dot or gv, json, txt or tree.
std::optional<Format> format_from(std::string_view name);
const char* to_string(Format format);
const char* media_type(Format format);

struct Drawing {
  Format format = Format::svg;
  Theme theme = Theme::light;
  Direction direction = Direction::down;
  std::optional<int> collapse;
  int scale = 1;
  long pixels_max = png_pixels_max;  // the limit for a PNG

  // Distinguishes drawings of one definition. It stays the same while they are drawn the same way.
  std::string key() const;
};

// `option` answers the value of format, theme, direction, collapse and scale, or empty. Errors name the option with
// `prefix`, as the users of the caller write it.
Result<Drawing> read_drawing(const std::function<std::optional<std::string>(const char*)>& option,
                             std::string_view prefix = "");

// The bytes of the drawing. ErrorCode::limit if a PNG would be too large.
Result<std::string> draw(const Program& program, const Drawing& drawing, const Overlay* overlay = nullptr);

}  // namespace cairn::render
