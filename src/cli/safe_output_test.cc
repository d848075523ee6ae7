#include "cli/safe_output.h"

#include <gtest/gtest.h>

#include <sstream>

#include "base/json.h"

namespace cairn::cli {
namespace {

std::string printed(std::string_view text) {
  std::ostringstream out;
  {
    SafeOutput safe(out);
    out << text;
  }
  return out.str();
}

TEST(SafeOutput, ControlCharactersBecomeEscapes) {
  EXPECT_EQ(printed("a\x1b[31mb\x07"), "a\\u001b[31mb\\u0007");
  EXPECT_EQ(printed("\xc2\x9b"
                    "2J"),
            "\\u009b2J");
  EXPECT_EQ(printed("a\x7f\r"), "a\\u007f\\u000d");
  EXPECT_EQ(printed("\xe2\x80\xae"
                    "evil"),
            "\\u202eevil");
}

TEST(SafeOutput, OrdinaryTextPasses) {
  const std::string text = "Grüße\t審査 😀\nnext";
  EXPECT_EQ(printed(text), text);
  std::ostringstream out;
  {
    SafeOutput safe(out);
    for (const char c : text) out.put(c);  // a character arrives byte by byte
  }
  EXPECT_EQ(out.str(), text);
}

TEST(SafeOutput, BytesThatAreNotUtf8AreReplaced) {
  EXPECT_EQ(printed("a\x9b"
                    "b\xff"),
            "a\xef\xbf\xbd"
            "b\xef\xbf\xbd");
  EXPECT_EQ(printed("\xc3"), "\xef\xbf\xbd");
  EXPECT_EQ(printed("\xc3\x1b"), "\xef\xbf\xbd\\u001b");
}

TEST(SafeOutput, JsonKeepsItsValue) {
  const Json value = Json::object({{"a", "x\x1b\xc2\x9by\xe2\x80\xae"}});
  const std::string text = printed(write_json(value));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\x9b'), std::string::npos);
  EXPECT_EQ(*parse_json(text), value);
}

TEST(SafeOutput, WhatTheCommandItselfWritesPasses) {
  std::ostringstream out;
  {
    SafeOutput safe(out);
    print_raw(out, "\x1b[2m");
    out << "x";
  }
  EXPECT_EQ(out.str(), "\x1b[2mx");
}

}  // namespace
}  // namespace cairn::cli
