#include <gtest/gtest.h>

#include "base/json.h"
#include "base/json_size.h"

namespace cairn {
namespace {

bool keep(const Json& value, std::size_t written = 7) {
  return value.keep_note(std::make_unique<JsonNote>(written, 1));
}

TEST(JsonNote, CopiesShareItUntilOneIsChanged) {
  Json value = Json::object({{"list", Json::array({1, 2})}});
  ASSERT_TRUE(keep(value));
  const Json copy = value;
  EXPECT_NE(copy.note(), nullptr);
  EXPECT_EQ(copy.note(), value.note());
  value.set("more", 1);
  EXPECT_EQ(value.note(), nullptr);
  EXPECT_NE(copy.note(), nullptr);
}

TEST(JsonNote, AChangeOfTheOnlyOwnerDropsIt) {
  Json list = Json::array({1, 2});
  ASSERT_TRUE(keep(list));
  list.push_back(3);
  EXPECT_EQ(list.note(), nullptr);
  Json object = Json::object({{"a", 1}});
  ASSERT_TRUE(keep(object));
  object.edit("a") = 2;
  EXPECT_EQ(object.note(), nullptr);
  ASSERT_TRUE(keep(object));
  object.erase("a");
  EXPECT_EQ(object.note(), nullptr);
}

TEST(JsonNote, AChangeInsideDropsTheNotesAround) {
  Json value = Json::object({{"a", Json::object({{"b", Json::array({1})}, {"c", Json::array({2})}})}});
  for (const char* at : {"", "/a", "/a/b", "/a/c"}) ASSERT_TRUE(keep(*find_pointer(value, at)));
  value.edit("a").edit("b").push_back(5);
  EXPECT_EQ(value.note(), nullptr);
  EXPECT_EQ(value["a"].note(), nullptr);
  EXPECT_EQ(value["a"]["b"].note(), nullptr);
  EXPECT_NE(value["a"]["c"].note(), nullptr);
}

TEST(JsonNote, OnlyLargeTextsAndFilledContainersHaveRoom) {
  EXPECT_TRUE(keep(Json(std::string(Text::noted_min, 'x'))));
  EXPECT_FALSE(keep(Json(std::string(Text::noted_min - 1, 'x'))));
  EXPECT_FALSE(keep(Json("short")));
  EXPECT_FALSE(keep(Json(1)));
  EXPECT_FALSE(keep(Json()));
  EXPECT_FALSE(keep(Json::object()));
  EXPECT_TRUE(keep(Json::array()));
}

TEST(JsonNote, TheFirstStays) {
  const Json text(std::string(5000, 'x'));
  ASSERT_TRUE(keep(text, 1));
  ASSERT_TRUE(keep(text, 2));
  EXPECT_EQ(text.note()->written, 1u);
}

TEST(JsonNote, LengthAndNestingComeFromIt) {
  const Json inner = Json::array({Json::array({1, 2, 3})});
  ASSERT_TRUE(inner.keep_note(std::make_unique<JsonNote>(1000, 9)));
  const Json value = Json::object({{"a", inner}, {"b", 1}});
  EXPECT_EQ(written_length(value), 1000 + std::string_view(R"({"a":,"b":1})").size());
  EXPECT_EQ(nesting(value), 10);
  EXPECT_TRUE(is_deeper_than(value, 9));
  EXPECT_FALSE(is_deeper_than(value, 10));
  EXPECT_TRUE(written_beyond(value, 1000).has_value());
}

TEST(JsonNote, WithoutOneLengthAndNestingAreThoseOfTheText) {
  const Json value = Json::object({{"a", Json::array({1, Json::object({{"b\n", "\x01x"}}), 2.5})}, {"c", Json()}});
  EXPECT_EQ(written_length(value), write_json(value).size());
  EXPECT_EQ(nesting(value), 3);
  EXPECT_EQ(nesting(Json(1)), 0);
  EXPECT_FALSE(is_deeper_than(value, 3));
  EXPECT_TRUE(is_deeper_than(value, 2));
}

}  // namespace
}  // namespace cairn
