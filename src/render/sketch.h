// Adds marks to a picture. Lengths are pixels, or tenths of a pixel where the name says so.
#pragma once

#include <utility>
#include <vector>

#include "render/picture.h"
#include "render/theme.h"

namespace cairn::render {

class Sketch {
 public:
  Sketch(Picture& picture, const ThemeColors& theme) : picture_(picture), colors(theme) {}

  void open_group(const char* role, const std::string& step, std::string title, const char* state = "");
  void close_group();
  void rect(Box box, int radius, Ink ink);
  // Grows the box on all sides by tenths of a pixel.
  void rect(Box box, int grown_tenths, int radius, Ink ink);
  void circle(Point centre, int radius_tenths, Ink ink);
  void path(Path path, Ink ink);
  void text(Point baseline, std::string text, int font_px, std::string_view color, Anchor anchor, bool bold = false);

 private:
  Mark& add(Mark::Kind kind, Ink ink);
  Picture& picture_;

 public:
  const ThemeColors& colors;
};

// `status` has one entry per node; it is empty without an overlay.
void draw_edges(Sketch& sketch, const Layout& layout, const std::vector<StepProgress>& status);
void draw_node(Sketch& sketch, const Node& node, const StepProgress* status);
// Draws the progress over a step: ring, sign and badge.
void draw_status(Sketch& sketch, const Node& node, const StepProgress& status);

}  // namespace cairn::render
