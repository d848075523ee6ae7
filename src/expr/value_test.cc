#include "expr/value.h"

#include <gtest/gtest.h>

#include "expr/expression.h"
#include "time/time_zone.h"

namespace cairn::expr {
namespace {

std::string value_of(std::string_view text) {
  const auto compiled = compile(text, {});
  if (!compiled) return compiled.error()[0].code;
  const auto result = compiled->evaluate_json({});
  return result ? write_json(*result) : result.error().code;
}

TEST(Value, BorrowedJsonIsReadWithoutCopying) {
  const Json json = *parse_json(R"({"a": {"b": [1, "two", null]}})");
  const Value value = Value::borrow(json);
  const Value inner = *value.find("a");
  EXPECT_EQ(inner.json(), json.find("a"));
  EXPECT_TRUE(inner.borrows());
  EXPECT_FALSE(inner.self_contained().borrows());
  EXPECT_EQ(inner.find("b")->item(1).as_text(), "two");
}

TEST(Value, BecomesJsonAsTheRulesSay) {
  EXPECT_EQ(value_of("timestamp('2024-02-02T08:00:00Z')"), "\"2024-02-02T08:00:00Z\"");
  EXPECT_EQ(value_of("duration('90m')"), "\"PT1H30M\"");
  EXPECT_EQ(value_of("duration('PT1H30M') == duration('90m')"), "true");
  EXPECT_EQ(value_of("duration('315360000000s')"), "\"P3650000D\"");
  EXPECT_EQ(value_of("duration('315360000000.5s')"), "overflow");
  EXPECT_EQ(value_of("timestamp('9999-12-31T23:59:59Z') - timestamp('0001-01-01T00:00:00Z')"), "overflow");
  EXPECT_EQ(value_of("double('+2')"), "2.0");
  EXPECT_EQ(value_of("double('+-2')"), "invalid_argument");
  EXPECT_EQ(value_of("b'hello'"), "\"aGVsbG8=\"");
  EXPECT_EQ(value_of("5u"), "5");
  EXPECT_EQ(value_of("{1: 2}"), "not_json");
  EXPECT_EQ(value_of("int"), "not_json");
  EXPECT_EQ(value_of("0.0 / 0.0"), "not_json");
  EXPECT_EQ(value_of("[1.0 / 0.0]"), "not_json");
  EXPECT_EQ(value_of("optional.none()"), "not_json");
  EXPECT_EQ(value_of("optional.of(1)"), "1");
  EXPECT_EQ(value_of("'a\\u0000b'"), "not_json");
  EXPECT_EQ(value_of("9223372036854775807"), "9223372036854775807");
}

TEST(Value, MapsIterateInKeyOrder) {
  EXPECT_EQ(value_of("{'b': 1, 'a': 2, 'c': 3}.map(k, k)"), R"(["a","b","c"])");
  EXPECT_EQ(value_of("{'b': 1, 'a': 2}.transformList(k, v, v)"), "[2,1]");
  EXPECT_EQ(value_of("{10: 'x', 9u: 'y', true: 'z', '1': 'w'}.transformList(k, v, v)"), R"(["z","y","x","w"])");
}

TEST(Value, NumbersCompareAcrossKinds) {
  EXPECT_EQ(value_of("[1 == 1.0, 1u == 1, 2 > 1.5, 1 in [1.0], dyn(1) != '1', {1: 2} == {1u: 2.0}]"),
            "[true,true,true,true,true,true]");
  EXPECT_EQ(value_of("0.0 / 0.0 == 0.0 / 0.0"), "false");
  EXPECT_EQ(value_of("1 < 0.0 / 0.0"), "false");
}

TEST(Value, ArithmeticThatLeavesItsRangeIsAnError) {
  EXPECT_EQ(value_of("9223372036854775807 + 1"), "overflow");
  EXPECT_EQ(value_of("-9223372036854775808 / -1"), "overflow");
  EXPECT_EQ(value_of("-9223372036854775808 % -1"), "0");
  EXPECT_EQ(value_of("1 / 0"), "divide_by_zero");
  EXPECT_EQ(value_of("1 % 0"), "divide_by_zero");
  EXPECT_EQ(value_of("[1][1]"), "index_out_of_range");
  EXPECT_EQ(value_of("[1][-1]"), "index_out_of_range");
  EXPECT_EQ(value_of("timestamp('9999-12-31T23:59:59Z') + duration('1s')"), "overflow");
}

TEST(TimeZone, FollowsTheDatabaseAndTheRuleAfterIt) {
  const auto berlin = TimeZone::find("Europe/Berlin");
  ASSERT_TRUE(berlin);
  EXPECT_EQ(berlin->offset_at(1704067200), 3600);  // 2024-01-01
  EXPECT_EQ(berlin->offset_at(1719792000), 7200);  // 2024-07-01
  EXPECT_EQ(berlin->offset_at(4102444800), 3600);  // 2100-01-01
  EXPECT_EQ(berlin->offset_at(4118083200), 7200);  // 2100-07-01
  EXPECT_EQ(TimeZone::find("Asia/Kathmandu")->offset_at(1704067200), 20700);
  EXPECT_EQ(TimeZone::find("-09:30")->offset_at(0), -34200);
  EXPECT_FALSE(TimeZone::find("Europe/Nowhere"));
  EXPECT_FALSE(TimeZone::find("../../etc/passwd"));
  EXPECT_FALSE(TimeZone::find("/etc/passwd"));
  EXPECT_FALSE(TimeZone::find("Europe")) << "a directory of the database";
  EXPECT_FALSE(TimeZone::find("Europe//Berlin"));
  EXPECT_FALSE(TimeZone::find("25:00"));
  EXPECT_FALSE(time_zone_version().empty());
}

TEST(TimeZone, WallClocksThatAreSkippedOrComeTwice) {
  const auto berlin = TimeZone::find("Europe/Berlin");
  // 2024-03-31 02:30 does not exist; an hour later it is 03:30 summer time, 01:30 UTC.
  EXPECT_EQ(berlin->to_utc(1711852200), 1711848600);
  // 2024-10-27 02:30 occurs twice; the earlier one is summer time, 00:30 UTC.
  EXPECT_EQ(berlin->to_utc(1729996200), 1729989000);
}

}  // namespace
}  // namespace cairn::expr
