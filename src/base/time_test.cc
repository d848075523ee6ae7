#include "base/time.h"

#include <gtest/gtest.h>

#include <random>

namespace cairn {
namespace {

Duration duration(std::string_view text) {
  const auto value = parse_duration(text);
  EXPECT_TRUE(value) << text << ": " << value.error().message;
  return value ? *value : Duration{};
}

TEST(Durations, BothSpellingsMeanTheSame) {
  EXPECT_EQ(duration("250ms"), Duration::of_ms(250));
  EXPECT_EQ(duration("10s"), duration("PT10S"));
  EXPECT_EQ(duration("1h30m"), duration("PT1H30M"));
  EXPECT_EQ(duration("3d"), duration("P3D"));
  EXPECT_EQ(duration("2w"), duration("P2W"));
  EXPECT_EQ(duration("2w"), duration("P14D"));
  EXPECT_EQ(duration("1d"), duration("PT24H"));
  EXPECT_EQ(duration("PT0.25S"), duration("250ms"));
  EXPECT_EQ(duration("0s"), Duration{});
}

TEST(Durations, WhatIsNoDurationIsRefusedInPlainWords) {
  for (const char* text : {"",
                           "10",
                           "s",
                           "1x",
                           "1m1h",
                           "1h1h",
                           "-1s",
                           "1.5s",
                           "P",
                           "PT",
                           "P1Y",
                           "P1M",
                           "PT1S1H",
                           "P1DT",
                           "PT1.5H",
                           "PT1.1234567890S",
                           "1 h",
                           " 1h",
                           "1h ",
                           "P1H",
                           "PT1D",
                           "PT.5S",
                           "99999999999999999999d",
                           "400000000000s",
                           "1e3s",
                           "+1s",
                           "P-1D",
                           "ms1"}) {
    const auto value = parse_duration(text);
    EXPECT_FALSE(value) << text;
    if (!value) {
      EXPECT_NE(value.error().message.find("is not a duration"), std::string::npos) << text;
    }
  }
}

TEST(Durations, EveryValueComesBackExactly) {
  std::mt19937_64 random(20261115);
  for (int i = 0; i < 20'000; ++i) {
    Duration value{static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(Duration::seconds_max)),
                   static_cast<std::int32_t>(random() % 1'000'000'000)};
    if (i % 3 == 0) value.nanos = 0;
    if (i % 3 == 1) value.seconds %= 100'000;
    EXPECT_EQ(duration(format_duration(value)), value) << format_duration(value);
    EXPECT_EQ(duration(format_duration_short(value)), value) << format_duration_short(value);
  }
  EXPECT_EQ(format_duration(Duration::of_seconds(5400)), "PT1H30M");
  EXPECT_EQ(format_duration(Duration{}), "PT0S");
  EXPECT_EQ(format_duration(Duration::of_ms(-1500)), "-PT1.5S");
  EXPECT_EQ(format_duration_short(Duration::of_ms(90'061'005)), "1d1h1m1s5ms");
}

TEST(Timestamps, EveryDayOfTheRangeComesBackExactly) {
  for (std::int64_t day = days_from_date({1, 1, 1}); day <= days_from_date({9999, 12, 31}); ++day) {
    const Date date = date_from_days(day);
    ASSERT_EQ(days_from_date(date), day);
    ASSERT_LE(date.day, days_in_month(date.year, date.month));
  }
  EXPECT_EQ(days_from_date({1970, 1, 1}), 0);
  EXPECT_EQ(days_from_date({2000, 2, 29}), 11'016);
}

TEST(Timestamps, ReadAndWrittenWithAsManyDigitsAsNeeded) {
  for (const char* text : {"2024-02-02T08:00:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z",
                           "2024-02-29T23:59:59.5Z", "1969-12-31T23:59:59.25Z"}) {
    const auto at = parse_timestamp(text);
    ASSERT_TRUE(at) << text;
    EXPECT_EQ(format_timestamp(*at), text);
  }
  EXPECT_EQ(format_timestamp(*parse_timestamp("2024-02-02T10:00:00+02:00")), "2024-02-02T08:00:00Z");
}

TEST(Timestamps, ImpossibleTimesAreRefused) {
  for (const char* text :
       {"", "2024-02-30T00:00:00Z", "2023-02-29T00:00:00Z", "2024-13-01T00:00:00Z", "2024-01-01",
        "2024-01-01T24:00:00Z", "2024-01-01T00:60:00Z", "2024-12-31T23:59:60Z", "2024-01-01T00:00:00",
        "2024-01-01T00:00:00.Z", "2024-01-01T00:00:00.1234567890Z", "0000-01-01T00:00:00Z", "0001-01-01T00:00:00+01:00",
        "9999-12-31T23:59:59-01:00", "2024-01-01 00:00:00Z", "10000-01-01T00:00:00Z", "2024-01-01T00:00:00+24:00",
        "2024-01-01T00:00:00Zx"}) {
    EXPECT_FALSE(parse_timestamp(text)) << text;
  }
}

TEST(Timestamps, LeavingTheRangeIsNoticed) {
  const Timestamp last{Timestamp::seconds_max, 999'999'999};
  EXPECT_FALSE(add(last, Duration{0, 1}));
  EXPECT_FALSE(add(Timestamp{Timestamp::seconds_min, 0}, Duration::of_ms(-1)));
  EXPECT_EQ(add(last, Duration{}), last);
  EXPECT_FALSE(add(Duration::of_seconds(Duration::seconds_max), Duration::of_seconds(1)));
  EXPECT_EQ(between(Timestamp{0, 500'000'000}, Timestamp{-1, 0}), (Duration{-2, 500'000'000}));
  // Not valid times, but no reason to end.
  EXPECT_EQ(between(Timestamp{}, Timestamp{INT64_MAX / 1000, 0}), Duration::of_seconds(Duration::seconds_max));
  EXPECT_EQ(between(Timestamp{INT64_MAX / 1000, 0}, Timestamp{}), Duration::of_seconds(-Duration::seconds_max));
}

}  // namespace
}  // namespace cairn
