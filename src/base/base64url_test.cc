#include "base/base64url.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(Base64url, EncodesAndDecodes) {
  EXPECT_EQ(base64url(""), "");
  EXPECT_EQ(base64url("f"), "Zg");
  EXPECT_EQ(base64url("fo"), "Zm8");
  EXPECT_EQ(base64url("foo"), "Zm9v");
  EXPECT_EQ(base64url("\xfb\xff"), "-_8");
  for (const std::string text : {"", "f", "fo", "foo", "foob", "\xfb\xff"})
    EXPECT_EQ(from_base64url(base64url(text)), text);
}

TEST(Base64url, RefusesASecondSpelling) {
  for (const char* const text : {"Z", "Zh", "Zm9", "Zg==", "Zg ", "Z+8", "Zm9vZ"}) {
    EXPECT_FALSE(from_base64url(text)) << text;
  }
}

}  // namespace
}  // namespace cairn
