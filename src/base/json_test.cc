#include "base/json.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include "base/json_integer.h"

namespace cairn {
namespace {

std::string error_of(std::string_view text, const JsonLimits& limits = {}) {
  const auto value = parse_json(text, limits);
  return value ? "accepted" : value.error().message;
}

TEST(Json, AnEmptyObjectIsOneHoweverItCameToBe) {
  Json made = Json::object();
  const Json copy = made;
  EXPECT_TRUE(made.members().empty());
  EXPECT_EQ(made.find("a"), nullptr);
  EXPECT_FALSE(made.erase("a"));
  EXPECT_EQ(write_json(made), "{}");
  made.set("a", 1);
  EXPECT_EQ(copy.size(), 0u);
  EXPECT_NE(made, copy);
  EXPECT_TRUE(made.erase("a"));
  EXPECT_EQ(made, copy);
  EXPECT_EQ(copy, made);
}

TEST(Json, IsWrittenSortedAndExactly) {
  const auto value =
      parse_json(R"({"b":[1,1.0,-0.5,1e3,9223372036854775807,9223372036854775808,-0],"a":"\ud83d\ude00\n","é":null})");
  ASSERT_TRUE(value) << value.error().message;
  EXPECT_EQ(
      write_json(*value),
      "{\"a\":\"\U0001F600\\n\",\"b\":[1,1.0,-0.5,1000.0,9223372036854775807,9223372036854775808.0,0],\"é\":null}");
}

TEST(Json, AChangeIsNotSeenThroughACopy) {
  Json first = Json::object({{"a", 1}, {"list", Json::array({1, 2})}});
  Json second = first;
  second.set("a", 2);
  second.edit("b").push_back("x");
  second.edit("list").edit_items()[0] = 9;
  EXPECT_EQ(write_json(first), R"({"a":1,"list":[1,2]})");
  EXPECT_EQ(write_json(second), R"({"a":2,"b":["x"],"list":[9,2]})");
  EXPECT_TRUE(second.erase("a"));
  EXPECT_FALSE(second.erase("a"));
}

TEST(Json, RandomDoublesSurviveReadingAndWriting) {
  const std::uint64_t seed = 20261115;
  std::mt19937_64 random(seed);
  for (int i = 0; i < 300'000; ++i) {
    const auto value = std::bit_cast<double>(random());
    if (!std::isfinite(value)) continue;
    const std::string text = write_json(Json(value));
    const auto back = parse_json(text);
    ASSERT_TRUE(back) << text;
    ASSERT_EQ(back->kind(), Json::Kind::number) << text;
    ASSERT_EQ(std::bit_cast<std::uint64_t>(back->as_double()), std::bit_cast<std::uint64_t>(value))
        << text << " seed " << seed;
  }
}

TEST(Json, RandomIntegersStayIntegers) {
  std::mt19937_64 random(20261116);
  for (int i = 0; i < 100'000; ++i) {
    const auto value = static_cast<long long>(random() >> (i % 64));
    const auto back = parse_json(write_json(Json(value)));
    ASSERT_TRUE(back);
    ASSERT_TRUE(back->is_integer());
    ASSERT_EQ(back->as_integer(), value);
  }
}

TEST(Json, WhatIsNotJsonIsRefusedWithItsPlace) {
  EXPECT_EQ(error_of(""), "1:1: the text is empty; expected a JSON value");
  EXPECT_EQ(error_of("{\"a\": 1,}"), "1:9: a comma before the closing bracket");
  EXPECT_EQ(error_of("[1 2]"), "1:4: expected `,` or `]` in the array");
  EXPECT_EQ(error_of("{\n  \"a\": [1"), "2:10: the `[` opened at 2:8 is never closed");
  EXPECT_EQ(error_of("{\"a\" 1}"), "1:6: expected `:` after the member name");
  EXPECT_EQ(error_of("\"abc"), "1:5: the text opened at 1:1 is never closed");
  EXPECT_EQ(error_of("{\"a\":1,\"a\":2}"), "1:8: duplicate key \"a\"");
  EXPECT_EQ(error_of("1 2"), "1:3: unexpected text after the JSON value");
  for (const char* text :
       {"01",      "1.",        ".5",          "+1",     "-",     "1e", "1e+",  "NaN",     "Infinity", "nul",
        "tru",     "'a'",       "[1,,2]",      "{1:2}",  "{a:1}", "]",  "[}",   "{]",      "1e400",    "-1e999",
        "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"\t\"", "[",     "{",  "\"\\", "// c\n1", "0x10",     "1_000"}) {
    EXPECT_FALSE(parse_json(text)) << text;
  }
}

TEST(Json, TextThatStoresCannotHoldIsRefused) {
  EXPECT_NE(error_of("\"\\u0000\"").find("U+0000"), std::string::npos);
  EXPECT_NE(error_of(std::string_view("\"a\0b\"", 5)).find("U+0000"), std::string::npos);
  EXPECT_NE(error_of("\"\\ud800\"").find("lone surrogate"), std::string::npos);
  EXPECT_NE(error_of("\"\\udc00\"").find("lone surrogate"), std::string::npos);
  EXPECT_NE(error_of("\"\\ud800\\u0041\"").find("lone surrogate"), std::string::npos);
  EXPECT_NE(error_of("\"\xC3\x28\"").find("UTF-8"), std::string::npos);
  EXPECT_NE(error_of("\"\xED\xA0\x80\"").find("UTF-8"), std::string::npos);
  EXPECT_NE(error_of("\"\xF5\x80\x80\x80\"").find("UTF-8"), std::string::npos);
}

TEST(Json, LimitsAreErrorsAndDepthCostsNoStack) {
  const std::string deep = std::string(1'000'000, '[');
  EXPECT_NE(error_of(deep).find("nested deeper than 128"), std::string::npos);
  EXPECT_TRUE(parse_json(std::string(128, '[') + std::string(128, ']')));
  EXPECT_FALSE(parse_json(std::string(129, '[') + std::string(129, ']')));
  JsonLimits small;
  small.bytes_max = 3;
  EXPECT_NE(error_of("1234", small).find("limit of 3"), std::string::npos);
}

TEST(Json, ADuplicateInALargeObjectIsFoundToo) {
  std::string text = "{";
  for (int i = 0; i < 50; ++i) text += "\"k" + std::to_string(i) + "\":1,";
  EXPECT_NE(error_of(text + "\"k40\":2}").find("duplicate key"), std::string::npos);
  EXPECT_TRUE(parse_json(text + "\"z\":2}"));
}

TEST(Json, ValuesCompareAsNumbersOnlyWhenAsked) {
  EXPECT_FALSE(Json(1) == Json(1.0));
  EXPECT_TRUE(same_value(Json(1), Json(1.0)));
  EXPECT_TRUE(same_value(Json::object({{"a", Json::array({1, 2.0})}}), Json::object({{"a", Json::array({1.0, 2})}})));
  EXPECT_FALSE(same_value(Json(9007199254740993LL), Json(9007199254740992.0)));
  EXPECT_EQ(compare_exactly(9007199254740993LL, 9007199254740992.0), 1);
  EXPECT_EQ(compare_exactly(INT64_MAX, 9223372036854775808.0), -1);
  EXPECT_EQ(compare_exactly(INT64_MIN, -9223372036854775808.0), 0);
  EXPECT_EQ(compare_exactly(0, 0.5), -1);
  EXPECT_EQ(compare_exactly(0, -0.5), 1);
}

TEST(Json, PointersFindWhatTheyName) {
  const auto value = parse_json(R"({"a":{"x/y":[10,20],"~":1}})");
  ASSERT_TRUE(value);
  EXPECT_EQ(find_pointer(*value, "")->kind(), Json::Kind::object);
  EXPECT_EQ(find_pointer(*value, "/a/x~1y/1")->as_integer(), 20);
  EXPECT_EQ(find_pointer(*value, "/a/~0")->as_integer(), 1);
  for (const char* none : {"a", "/b", "/a/x~1y/2", "/a/x~1y/01", "/a/x~1y/-", "/a/~2", "/a/x~1y/0/z"}) {
    EXPECT_EQ(find_pointer(*value, none), nullptr) << none;
  }
  EXPECT_EQ(escape_pointer("a/b~c"), "a~1b~0c");
}

TEST(Json, IntegersHaveSeveralSpellings) {
  const auto body = parse_json(R"({"a":7,"b":7.0,"c":-2e3,"d":null,"e":1.5,"f":1e30,"g":9223372036854775808,"h":"7"})");
  ASSERT_TRUE(body);
  EXPECT_EQ(*integer_of(*body, "a"), 7);
  EXPECT_EQ(*integer_of(*body, "b"), 7);
  EXPECT_EQ(*integer_of(*body, "c"), -2000);
  EXPECT_EQ(*integer_of(*body, "d"), std::nullopt);
  EXPECT_EQ(*integer_of(*body, "absent"), std::nullopt);
  for (const char* const name : {"e", "f", "g", "h"}) EXPECT_FALSE(integer_of(*body, name)) << name;
}

TEST(Json, PrettyTextReadsBackTheSame) {
  const auto value = parse_json(R"({"list":[1,2,3],"deep":{"a":{"b":[{"c":1},{"d":[]}]}},"empty":{},"text":"x"})");
  ASSERT_TRUE(value);
  const auto back = parse_json(write_json_pretty(*value));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, *value);
}

}  // namespace
}  // namespace cairn
