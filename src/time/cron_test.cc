#include "time/cron.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

Cron cron(std::string_view text) {
  auto parsed = parse_cron(text);
  EXPECT_TRUE(parsed.has_value()) << text << ": " << parsed.error().message;
  return parsed ? *parsed : Cron();
}

std::string fault(std::string_view text) {
  const auto parsed = parse_cron(text);
  EXPECT_FALSE(parsed.has_value()) << text;
  return parsed ? "" : std::to_string(parsed.error().offset) + ": " + parsed.error().message;
}

TEST(Cron, FiveFieldsFireAtSecondZero) {
  const Cron daily = cron("30 8 * * *");
  EXPECT_EQ(daily.seconds.count(), 1u);
  EXPECT_TRUE(daily.seconds.test(0));
  EXPECT_TRUE(daily.minutes.test(30));
  EXPECT_EQ(daily.minutes.count(), 1u);
  EXPECT_TRUE(daily.hours.test(8));
  EXPECT_TRUE(daily.any_day);
  EXPECT_TRUE(daily.any_weekday);
}

TEST(Cron, SixFieldsBeginWithSeconds) {
  const Cron often = cron("*/20 0 0 1 1 ?");
  EXPECT_EQ(often.seconds.count(), 3u);
  EXPECT_TRUE(often.seconds.test(40));
  EXPECT_TRUE(often.months.test(1));
}

TEST(Cron, ListsRangesStepsAndNames) {
  const Cron office = cron("0,30 9-17/4 * JAN-mar mon-FRI");
  EXPECT_EQ(office.minutes.count(), 2u);
  EXPECT_EQ(office.hours.count(), 3u);
  EXPECT_TRUE(office.hours.test(17));
  EXPECT_EQ(office.months.count(), 3u);
  EXPECT_EQ(office.weekdays.count(), 5u);
  EXPECT_FALSE(office.weekdays.test(0));
  EXPECT_EQ(cron("5/20 * * * *").minutes.count(), 3u);
  EXPECT_TRUE(cron("0 0 * * 7").weekdays.test(0));
}

TEST(Cron, NicknamesStandForTheirFields) {
  EXPECT_TRUE(cron("@daily").hours.test(0));
  EXPECT_EQ(cron("@hourly").hours.count(), 24u);
  EXPECT_TRUE(cron("@yearly").months.test(1));
  EXPECT_TRUE(cron("@weekly").weekdays.test(0));
  EXPECT_EQ(cron("@monthly").text, "@monthly");
}

TEST(Cron, DaysOfTheMonthCountFromEitherEnd) {
  EXPECT_TRUE(cron("0 0 L * *").matches({2024, 2, 29}));
  EXPECT_FALSE(cron("0 0 L * *").matches({2024, 2, 28}));
  EXPECT_TRUE(cron("0 0 L-2 * *").matches({2026, 1, 29}));
  EXPECT_TRUE(cron("0 0 LW * *").matches({2026, 5, 29}));  // the 31st is a Sunday
  EXPECT_FALSE(cron("0 0 LW * *").matches({2026, 5, 31}));
}

TEST(Cron, TheNearestWeekdayStaysInItsMonth) {
  EXPECT_TRUE(cron("0 0 15W * *").matches({2026, 8, 14}));   // the 15th is a Saturday
  EXPECT_TRUE(cron("0 0 15W * *").matches({2026, 11, 16}));  // the 15th is a Sunday
  EXPECT_TRUE(cron("0 0 1W * *").matches({2026, 8, 3}));     // the 1st is a Saturday: not back into July
  EXPECT_FALSE(cron("0 0 1W * *").matches({2026, 7, 31}));
  EXPECT_FALSE(cron("0 0 31W * *").matches({2026, 4, 30}));
}

TEST(Cron, WeekdaysOfTheMonth) {
  EXPECT_TRUE(cron("0 0 * * 5#3").matches({2026, 11, 20}));
  EXPECT_FALSE(cron("0 0 * * 5#3").matches({2026, 11, 13}));
  EXPECT_TRUE(cron("0 0 * * MONL").matches({2026, 11, 30}));
  EXPECT_FALSE(cron("0 0 * * MONL").matches({2026, 11, 23}));
}

TEST(Cron, EitherDayIsEnoughWhenBothAreGiven) {
  const Cron both = cron("0 0 13 * FRI");
  EXPECT_TRUE(both.matches({2026, 11, 13}));
  EXPECT_TRUE(both.matches({2026, 11, 20}));
  EXPECT_TRUE(both.matches({2026, 10, 13}));
  EXPECT_FALSE(both.matches({2026, 10, 14}));
}

TEST(Cron, MistakesAreNamedWithTheirPlace) {
  EXPECT_EQ(fault("61 * * * *"), "0: the minute `61` is out of range; expected 0 to 59");
  EXPECT_EQ(fault("0 24 * * *"), "2: the hour `24` is out of range; expected 0 to 23");
  EXPECT_EQ(fault("0 17-9 * * *"), "2: the hour `17-9` goes backwards; write two ranges with a comma");
  EXPECT_NE(fault("* * * *").find("not 4"), std::string::npos);
  EXPECT_NE(fault("").find("not 0"), std::string::npos);
  EXPECT_NE(fault("*/0 * * * *").find("`0` is out of range"), std::string::npos);
  EXPECT_NE(fault("* * * FOO *").find("JAN to DEC"), std::string::npos);
  EXPECT_NE(fault("* * * * XYZ").find("SUN to SAT"), std::string::npos);
  EXPECT_NE(fault("1,,2 * * * *").find("is empty"), std::string::npos);
  EXPECT_NE(fault("1/2/3 * * * *").find("more than one `/`"), std::string::npos);
  EXPECT_NE(fault("1-2-3 * * * *").find("more than one `-`"), std::string::npos);
  EXPECT_NE(fault("0 0 * * 5#6").find("`6` is out of range"), std::string::npos);
  EXPECT_NE(fault("-1 * * * *").find("is empty"), std::string::npos);
  EXPECT_NE(fault("@fortnightly").find("@daily"), std::string::npos);
}

TEST(Cron, DaysThatNeverComeAreRefused) {
  EXPECT_NE(fault("0 0 30 2 *").find("never comes"), std::string::npos);
  EXPECT_NE(fault("0 0 31 4,6,9,11 *").find("never comes"), std::string::npos);
  EXPECT_NE(fault("0 0 L-30 2 *").find("never comes"), std::string::npos);
  EXPECT_NE(fault("0 0 L-29 2 *").find("never comes"), std::string::npos);
  EXPECT_NE(fault("0 0 31W 4 *").find("never comes"), std::string::npos);
  EXPECT_NE(fault("0 0 30W,31W 2 *").find("never comes"), std::string::npos);
  EXPECT_TRUE(cron("0 0 29 2 *").matches({2028, 2, 29}));
  EXPECT_TRUE(cron("0 0 L-28 2 *").matches({2028, 2, 1}));
  EXPECT_TRUE(cron("0 0 31W 3,4 *").matches({2024, 3, 29}));
  EXPECT_TRUE(cron("0 0 ? 2 FRI#5").matches({2036, 2, 29}));
  EXPECT_TRUE(cron("0 0 31 4 MON").matches({2024, 4, 1})) << "one of the two days is enough";
}

}  // namespace
}  // namespace cairn
