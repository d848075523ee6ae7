#include "render/raster.h"

#include <gtest/gtest.h>

namespace cairn::render {
namespace {

int red_at(const Raster& raster, int x, int y) {
  return raster.pixels().at(static_cast<unsigned>((y * raster.width() + x) * 3));
}

Polygon square(int from, int to) { return {{from, from}, {to, from}, {to, to}, {from, to}}; }

TEST(Raster, CoversPixelsByTheirShare) {
  Raster raster(6, 6);
  raster.clear("#ffffff");
  raster.fill({square(256 + 128, 4 * 256)}, "#000000");
  EXPECT_EQ(red_at(raster, 0, 0), 255);
  EXPECT_EQ(red_at(raster, 2, 2), 0);
  EXPECT_NEAR(red_at(raster, 1, 2), 128, 1);
  EXPECT_NEAR(red_at(raster, 1, 1), 191, 1);
  EXPECT_EQ(red_at(raster, 4, 2), 255);
}

TEST(Raster, APolygonTheOtherWayIsAHole) {
  Raster raster(8, 8);
  raster.clear("#ffffff");
  Polygon hole = square(3 * 256, 5 * 256);
  raster.fill({square(256, 7 * 256), Polygon(hole.rbegin(), hole.rend())}, "#102030");
  EXPECT_EQ(red_at(raster, 2, 2), 0x10);
  EXPECT_EQ(red_at(raster, 4, 4), 255);
  raster.fill({hole, hole}, "#000000");
  EXPECT_EQ(red_at(raster, 4, 4), 0) << "the same twice is still filled";
}

TEST(Raster, WhatLiesOutsideIsCutOff) {
  Raster raster(4, 4);
  raster.clear("#ffffff");
  raster.fill({square(-100'000, 100'000)}, "#000000");
  for (const std::uint8_t value : raster.pixels()) EXPECT_EQ(value, 0);
  raster.fill({square(10'000, 20'000)}, "#ffffff");
  raster.fill({{{-3000, -3000}, {-2000, -3000}, {-2000, -1000}}}, "#ffffff");
  for (const std::uint8_t value : raster.pixels()) EXPECT_EQ(value, 0);
}

}  // namespace
}  // namespace cairn::render
