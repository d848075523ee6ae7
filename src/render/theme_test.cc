#include "render/theme.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>

namespace cairn::render {
namespace {

// The luminance as WCAG 2 defines it.
double luminance(std::string_view color) {
  double sum = 0;
  const double weights[] = {0.2126, 0.7152, 0.0722};
  for (std::size_t i = 0; i < 3; ++i) {
    const double part =
        static_cast<double>(std::strtol(std::string(color.substr(1 + 2 * i, 2)).c_str(), nullptr, 16)) / 255;
    sum += weights[i] * (part <= 0.03928 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4));
  }
  return sum;
}

double contrast(std::string_view a, std::string_view b) {
  const double first = luminance(a) + 0.05;
  const double second = luminance(b) + 0.05;
  return first > second ? first / second : second / first;
}

TEST(Theme, TextCanBeReadInEveryState) {
  EXPECT_NEAR(contrast("#000000", "#ffffff"), 21, 0.01);
  for (const Theme theme : {Theme::light, Theme::dark}) {
    const ThemeColors& colors = colors_of(theme);
    for (int i = 0; i <= static_cast<int>(Shape::collapsed); ++i) {
      const ShapeColors& shape = colors_of(colors, static_cast<Shape>(i));
      EXPECT_GE(contrast(shape.text, shape.fill), 4.5) << to_string(static_cast<Shape>(i));
      EXPECT_GE(contrast(shape.icon, shape.fill), 3.0) << to_string(static_cast<Shape>(i));
    }
    EXPECT_GE(contrast(colors.not_reached.text, colors.not_reached.fill), 4.5);
    for (const std::string_view ground : {colors.background, colors.container_fill}) {
      EXPECT_GE(contrast(colors.edge_label, ground), 4.5);
      EXPECT_GE(contrast(colors.edge, ground), 3.0);
    }
    EXPECT_GE(contrast(colors.title, colors.background), 4.5);
    for (const Progress progress : {Progress::done, Progress::current, Progress::waiting, Progress::failing,
                                    Progress::failed, Progress::skipped}) {
      EXPECT_GE(contrast(color_of(colors, progress), colors.background), 4.5) << to_string(progress);
    }
  }
}

}  // namespace
}  // namespace cairn::render
