#include "base/json.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(Json, WritesSortedAndExact) {
  const auto value = parse_json(R"({"b":[1,1.0,-0.5,1e3,9223372036854775807,9223372036854775808],"a":"\ud83d\ude00\n"})");
  ASSERT_TRUE(value) << value.error().message;
  EXPECT_EQ(write_json(*value),
            "{\"a\":\"\U0001F600\\n\",\"b\":[1,1.0,-0.5,1000.0,9223372036854775807,9223372036854775808.0]}");
}

TEST(Json, AChangeIsNotSeenThroughACopy) {
  Json first = Json::object({{"a", 1}});
  Json second = first;
  second.set("a", 2);
  second.edit("b").push_back("x");
  EXPECT_EQ(write_json(first), R"({"a":1})");
  EXPECT_EQ(write_json(second), R"({"a":2,"b":["x"]})");
}

}  // namespace
}  // namespace cairn
