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

// Outside of a page that sets the properties, the picture is the light one.
TEST(Theme, TokensFallBackToTheLightColours) {
  const ThemeColors& light = colors_of(Theme::light);
  const ThemeColors& tokens = colors_of(Theme::tokens);
  const auto expect_token = [](std::string_view token, std::string_view color) {
    EXPECT_TRUE(token.starts_with("var(--d-")) << token;
    EXPECT_TRUE(token.ends_with(", " + std::string(color) + ")")) << token;
  };
  for (int i = 0; i <= static_cast<int>(Shape::collapsed); ++i) {
    const ShapeColors& mine = colors_of(tokens, static_cast<Shape>(i));
    const ShapeColors& theirs = colors_of(light, static_cast<Shape>(i));
    expect_token(mine.fill, theirs.fill);
    expect_token(mine.stroke, theirs.stroke);
    expect_token(mine.text, theirs.text);
    expect_token(mine.icon, theirs.icon);
  }
  for (int i = 0; i <= static_cast<int>(Progress::skipped); ++i) {
    expect_token(color_of(tokens, static_cast<Progress>(i)), color_of(light, static_cast<Progress>(i)));
  }
  expect_token(tokens.background, light.background);
  expect_token(tokens.title, light.title);
  expect_token(tokens.edge, light.edge);
  expect_token(tokens.edge_label, light.edge_label);
  expect_token(tokens.container_fill, light.container_fill);
  expect_token(tokens.container_stroke, light.container_stroke);
  expect_token(tokens.bar, light.bar);
}

}  // namespace
}  // namespace cairn::render
