// The colours. Text has a contrast of at least 4.5 to its background, in both themes and in every state.
#pragma once

#include <string_view>

#include "render/picture.h"

namespace cairn::render {

struct ShapeColors {
  std::string_view fill;
  std::string_view stroke;
  std::string_view text;
  std::string_view icon;
};

struct ThemeColors {
  std::string_view background;
  std::string_view title;
  std::string_view edge;
  std::string_view edge_label;
  std::string_view container_fill;
  std::string_view container_stroke;
  std::string_view bar;
  ShapeColors action, data, task, wait, signal, subworkflow, event, decision, header, complete, fail, start;
  ShapeColors not_reached;
  // Colours of a step's state: stroke and text of its badge, ring and sign.
  std::string_view done, current, waiting, failing, skipped;
};

const ThemeColors& colors_of(Theme theme);
const ShapeColors& colors_of(const ThemeColors& theme, Shape shape);
std::string_view color_of(const ThemeColors& theme, Progress progress);

}  // namespace cairn::render
