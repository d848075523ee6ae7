// A picture as a list of simple marks, in the order in which they are drawn. SVG and PNG both come from it, so both
// show the same. Lengths are tenths of a pixel: whole numbers, so that the same bytes come out on every machine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "render/layout.h"
#include "render/overlay.h"

namespace cairn::render {

enum class Theme { light, dark };

// Colours are "#rrggbb" or empty for none; they live as long as the program.
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
  int radius = 0;  // rect: of its corners
  Path path;
  std::string text;  // text; group: its title, may be empty
  int font_px = 0;
  bool bold = false;
  Anchor anchor = Anchor::start;
  std::string step;        // group: the step's id
  const char* role = "";   // group: what it shows
  const char* state = "";  // group: how far it is, with an overlay
};

struct Picture {
  int width = 0;  // in pixels
  int height = 0;
  std::vector<Mark> marks;
};

Picture draw(const Layout& layout, Theme theme, const Overlay* overlay = nullptr);

}  // namespace cairn::render
