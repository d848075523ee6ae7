// A picture as a list of simple marks in drawing order. SVG and PNG are both made from it, so both show the same.
// Lengths are integers, in tenths of a pixel, so the bytes are the same on every machine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "render/layout.h"
#include "render/overlay.h"

namespace cairn::render {

// `tokens` names the CSS properties of the page that shows the picture (--d-action, …), so that one SVG serves light
// and dark pages. It is for SVG only.
enum class Theme { light, dark, tokens };

// Colours are "#rrggbb" (`var(--d-NAME, #rrggbb)` in the theme `tokens`) or empty for none. The views must have static
// lifetime.
struct Ink {
  std::string_view fill;
  std::string_view stroke;
  int width = 0;  // of the stroke
  int dash = 0;   // length of dashes and gaps; 0: an unbroken line
};

struct PathStep {
  enum class Op : char { move = 'M', line = 'L', curve = 'Q', close = 'Z' };
  Op op = Op::move;
  int x = 0;
  int y = 0;
  int control_x = 0;  // of a curve
  int control_y = 0;
};
using Path = std::vector<PathStep>;

enum class Anchor { start, middle };

struct Mark {
  enum class Kind { group, group_end, rect, circle, path, text };
  Kind kind = Kind::rect;
  Ink ink;
  int x = 0;  // rect: corner; circle: centre; text: baseline
  int y = 0;
  int width = 0;
  int height = 0;
  int radius = 0;  // rect: radius of its corners
  Path path;
  std::string text;  // text; group: its title, may be empty
  int font_px = 0;
  bool bold = false;
  Anchor anchor = Anchor::start;
  std::string step;        // group: the step's id
  const char* role = "";   // group: what it represents
  const char* state = "";  // group: its progress, with an overlay
};

struct Picture {
  int width = 0;  // in pixels
  int height = 0;
  std::vector<Mark> marks;
};

Picture draw(const Layout& layout, Theme theme, const Overlay* overlay = nullptr);

}  // namespace cairn::render
