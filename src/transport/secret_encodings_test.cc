#include "transport/secret_encodings.h"

#include <gtest/gtest.h>

#include "base/sha256.h"
#include "expr/base64.h"

namespace cairn {
namespace {

bool hides(const std::string& secret, const std::string& text) {
  for (const std::string& spelling : spellings_of(secret)) {
    if (text.find(spelling) != std::string::npos) return true;
  }
  return false;
}

TEST(Spellings, Base64WhereverItStands) {
  const std::string secret = "s3cr3t/k?y>>~~value";
  for (const std::string before : {"", "u", "us", "use", "user", "user:"}) {
    for (const std::string after : {"", "!", "!!", "!!!"}) {
      std::string encoded = expr::base64_encode(before + secret + after);
      EXPECT_TRUE(hides(secret, encoded)) << encoded;
      for (char& c : encoded) c = c == '+' ? '-' : c == '/' ? '_' : c;
      EXPECT_TRUE(hides(secret, encoded)) << encoded;
    }
  }
}

TEST(Spellings, HexJsonAndPercent) {
  const std::string secret = "a \"b\"/ü";
  EXPECT_TRUE(hides(secret, "x" + to_hex(secret) + "x"));
  EXPECT_TRUE(hides(secret, "61202262222FC3BC"));
  EXPECT_TRUE(hides(secret, "a \\\"b\\\"/ü"));
  EXPECT_TRUE(hides(secret, "q=a%20%22b%22%2F%C3%BC&"));
  EXPECT_TRUE(hides(secret, "q=a+%22b%22%2f%c3%bc&"));
}

TEST(Spellings, OtherTextsAreLeftAlone) {
  EXPECT_TRUE(spellings_of("ab").empty());
  EXPECT_FALSE(hides("s3cr3t-value", "s3cr3t-other and " + expr::base64_encode("s3cr3t-other")));
  EXPECT_FALSE(hides("abc", expr::base64_encode("xabcx"))) << "too short to be told from chance";
}

}  // namespace
}  // namespace cairn
