#include "base/json_size.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(JsonSize, IsExactAtTheLimit) {
  const Json value = Json::object({{"a", Json::array({1, "x\n"})}});
  const std::size_t length = write_json(value).size();
  EXPECT_EQ(written_beyond(value, length), std::nullopt);
  EXPECT_EQ(written_beyond(value, length - 1), length);
}

TEST(JsonSize, EveryCharacterMayNeedAnEscape) {
  const Json value(std::string(100, '\x01'));
  EXPECT_EQ(written_beyond(value, 601), 602u);
  EXPECT_EQ(written_beyond(value, 602), std::nullopt);
}

}  // namespace
}  // namespace cairn
