#include "expr/decimal.h"

#include <gtest/gtest.h>

namespace cairn::expr {
namespace {

Decimal of(std::string_view text) {
  auto parsed = Decimal::parse(text);
  EXPECT_TRUE(parsed.has_value()) << text;
  return parsed.has_value() ? *parsed : Decimal();
}

std::string quotient(std::string_view a, std::string_view b) {
  const auto result = of(a).divided_by(of(b));
  return result.has_value() ? result->text() : "error";
}

std::string rounded(std::string_view value, std::int64_t scale, Rounding mode) {
  const auto result = of(value).round(scale, mode);
  return result.has_value() ? result->text() : "error";
}

std::string joined(const Result<std::vector<Decimal>>& parts) {
  if (!parts.has_value()) return parts.error().message;
  std::string result;
  for (const Decimal& part : *parts) result += (result.empty() ? "" : " ") + part.text();
  return result;
}

TEST(Decimal, KeepsItsScale) {
  for (const char* text : {"0", "0.00", "12.50", "-0.05", "30.30", "123456789012345678901234567890.000000001"}) {
    EXPECT_EQ(of(text).text(), text);
  }
  EXPECT_EQ(of("-0.00").text(), "0.00");
  EXPECT_EQ(of("007.5").text(), "7.5");
}

TEST(Decimal, RefusesWhatIsNotPlainDecimalText) {
  for (const char* text :
       {"", "-", ".", "1.", ".5", "+1", "1e3", "1,5", " 1", "1 ", "--1", "1.2.3", "0x1", "NaN", "١"}) {
    EXPECT_FALSE(Decimal::parse(text).has_value()) << text;
  }
}

TEST(Decimal, ComparesByValue) {
  EXPECT_EQ(of("1.10"), of("1.1"));
  EXPECT_LT(of("-2"), of("-1.99"));
  EXPECT_GT(of("0.1"), of("-1000000000000"));
  EXPECT_EQ(of("0.00"), Decimal());
}

TEST(Decimal, AddsAndMultipliesExactly) {
  EXPECT_EQ((of("0.1") + of("0.2"))->text(), "0.3");
  EXPECT_EQ((of("19.99") * of("3"))->text(), "59.97");
  EXPECT_EQ((of("1.50") * of("2.50"))->text(), "3.7500");
  EXPECT_EQ((of("1.00") - of("1"))->text(), "0.00");
  EXPECT_EQ((of("999999999999999999") + of("0.000000001"))->text(), "999999999999999999.000000001");
}

TEST(Decimal, DividesTo34DigitsHalfEven) {
  EXPECT_EQ(quotient("10.00", "4"), "2.50");
  EXPECT_EQ(quotient("1", "3"), "0.3333333333333333333333333333333333");
  EXPECT_EQ(quotient("2", "3"), "0.6666666666666666666666666666666667");
  EXPECT_EQ(quotient("-1", "8"), "-0.125");
  EXPECT_EQ(quotient("100", "0.5"), "200");
  EXPECT_EQ(quotient("0.00", "7"), "0.00");
  // Exactly between two neighbours: rounds to the even one.
  EXPECT_EQ(quotient("10000000000000000000000000000000005", "1"), "10000000000000000000000000000000000");
  EXPECT_EQ(quotient("10000000000000000000000000000000015", "1"), "10000000000000000000000000000000020");
}

TEST(Decimal, RoundsInEveryMode) {
  EXPECT_EQ(rounded("2.5", 0, Rounding::half_even), "2");
  EXPECT_EQ(rounded("3.5", 0, Rounding::half_even), "4");
  EXPECT_EQ(rounded("2.5", 0, Rounding::half_up), "3");
  EXPECT_EQ(rounded("-2.5", 0, Rounding::half_up), "-3");
  EXPECT_EQ(rounded("2.5", 0, Rounding::half_down), "2");
  EXPECT_EQ(rounded("2.1", 0, Rounding::up), "3");
  EXPECT_EQ(rounded("-2.9", 0, Rounding::down), "-2");
  EXPECT_EQ(rounded("-2.1", 0, Rounding::ceiling), "-2");
  EXPECT_EQ(rounded("-2.1", 0, Rounding::floor), "-3");
  EXPECT_EQ(rounded("30.3", 2, Rounding::half_even), "30.30");
  EXPECT_EQ(rounded("1250", -2, Rounding::half_even), "1200");
  EXPECT_EQ(rounded("-0.4", 0, Rounding::half_even), "0");
}

TEST(Decimal, SplitsWithoutLosingACent) {
  EXPECT_EQ(joined(of("100").split(3, 2)), "33.34 33.33 33.33");
  EXPECT_EQ(joined(of("-0.05").split(3, 2)), "-0.02 -0.02 -0.01");
  EXPECT_EQ(joined(of("0.02").split(4, 2)), "0.01 0.01 0.00 0.00");
  EXPECT_EQ(joined(of("10").allocate({of("70"), of("20"), of("10")}, 2)), "7.00 2.00 1.00");
  EXPECT_EQ(joined(of("1.00").allocate({of("1"), of("1.5"), of("0")}, 2)), "0.40 0.60 0.00");
  EXPECT_NE(joined(of("1.005").split(2, 2)).find("more than 2 digits"), std::string::npos);
  EXPECT_FALSE(of("1").split(0, 2).has_value());
  EXPECT_FALSE(of("1").allocate({of("0")}, 2).has_value());
  EXPECT_FALSE(of("1").allocate({of("2"), of("-1")}, 2).has_value());
}

TEST(Decimal, ConvertsToNumbers) {
  EXPECT_EQ(of("-9223372036854775808.9").to_integer(), INT64_MIN);
  EXPECT_EQ(of("9223372036854775808").to_integer(), std::nullopt);
  EXPECT_EQ(of("18446744073709551615").to_unsigned_integer(), UINT64_MAX);
  EXPECT_EQ(of("-1").to_unsigned_integer(), std::nullopt);
  EXPECT_EQ(of("0.1").to_double(), 0.1);
  EXPECT_EQ(of("9007199254740993").to_double(), 9007199254740992.0);
  EXPECT_EQ(of("9007199254740993.0000000001").to_double(), 9007199254740994.0);
  EXPECT_EQ(of(std::string(400, '9')).to_double(), std::numeric_limits<double>::infinity());
}

TEST(Decimal, HasAThousandDigitsAtMost) {
  const Decimal longest = of(std::string(1000, '9'));
  EXPECT_EQ((longest + Decimal()).has_value(), true);
  EXPECT_EQ((longest + Decimal::of(std::int64_t{1})).error().code, ErrorCode::limit);
  EXPECT_EQ((longest * longest).error().code, ErrorCode::limit);
  EXPECT_EQ(of("1").round(1001, Rounding::half_even).error().code, ErrorCode::limit);
  EXPECT_FALSE(Decimal::parse(std::string(1001, '9')).has_value());
  EXPECT_FALSE(Decimal::parse("0." + std::string(1001, '0')).has_value());
}

}  // namespace
}  // namespace cairn::expr
