#include "base/ascii.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(Ascii, OnlyItsOwnLettersAreFolded) {
  EXPECT_EQ(ascii_lower("Content-TYPE @[`{ 09"), "content-type @[`{ 09");
  EXPECT_EQ(ascii_lower("\xC3\x84\x41\xC0"), "\xC3\x84\x61\xC0");  // bytes outside ASCII stay the same
  EXPECT_EQ(ascii_lower(std::string_view("A\0Z", 3)), std::string("a\0z", 3));
}

}  // namespace
}  // namespace cairn
