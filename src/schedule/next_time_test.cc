#include "schedule/next_time.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

Timestamp instant(std::string_view text) { return *parse_timestamp(text); }

Schedule cron(std::string_view text, std::string_view zone = "UTC") {
  auto read =
      read_schedule(Json::object({{"cron", text}, {"zone", zone}, {"start", Json::object({{"definition", "d"}})}}));
  EXPECT_TRUE(read.has_value()) << read.error().message;
  return std::move(*read);
}

Schedule every(std::string_view length, std::string_view from) {
  auto read =
      read_schedule(Json::object({{"every", length}, {"from", from}, {"start", Json::object({{"definition", "d"}})}}));
  EXPECT_TRUE(read.has_value()) << read.error().message;
  return std::move(*read);
}

std::string times(const Schedule& schedule, std::string_view after, std::size_t count) {
  std::string text;
  for (const Timestamp one : next_times(schedule, instant(after), count)) {
    text += (text.empty() ? "" : " ") + format_timestamp(one);
  }
  return text;
}

TEST(NextTime, IsAfterNotAt) {
  EXPECT_EQ(times(cron("0 8 * * *"), "2024-02-28T08:00:00Z", 2), "2024-02-29T08:00:00Z 2024-03-01T08:00:00Z");
  EXPECT_EQ(times(cron("0 8 * * *"), "2024-02-28T07:59:59.999Z", 1), "2024-02-28T08:00:00Z");
}

TEST(NextTime, OfSeconds) {
  EXPECT_EQ(times(cron("*/20 59 23 31 12 *"), "2024-12-31T23:59:20Z", 2), "2024-12-31T23:59:40Z 2025-12-31T23:59:00Z");
  EXPECT_EQ(times(cron("30 5,50 1 * * *"), "2024-01-01T01:05:31Z", 2), "2024-01-01T01:50:30Z 2024-01-02T01:05:30Z");
}

TEST(NextTime, OfRareDays) {
  EXPECT_EQ(times(cron("0 0 29 2 *"), "2096-02-29T00:00:00Z", 1), "2104-02-29T00:00:00Z");
  EXPECT_EQ(times(cron("0 0 ? 2 5#5"), "2024-02-01T00:00:00Z", 2), "2036-02-29T00:00:00Z 2064-02-29T00:00:00Z");
  EXPECT_EQ(times(cron("0 0 L * *"), "2024-02-01T00:00:00Z", 2), "2024-02-29T00:00:00Z 2024-03-31T00:00:00Z");
  EXPECT_EQ(times(cron("0 0 15W * *"), "2024-06-01T00:00:00Z", 1), "2024-06-14T00:00:00Z");
  EXPECT_EQ(times(cron("0 0 LW * *"), "2024-03-01T00:00:00Z", 1), "2024-03-29T00:00:00Z");
}

TEST(NextTime, ASkippedReadingFiresAtTheFirstValidInstant) {
  EXPECT_EQ(times(cron("30 2 * * *", "Europe/Berlin"), "2024-03-30T12:00:00Z", 2),
            "2024-03-31T01:00:00Z 2024-04-01T00:30:00Z");
  EXPECT_EQ(times(cron("*/30 * * * *", "Europe/Berlin"), "2024-03-31T00:00:00Z", 4),
            "2024-03-31T00:30:00Z 2024-03-31T01:00:00Z 2024-03-31T01:30:00Z 2024-03-31T02:00:00Z")
      << "the skipped readings and 03:00 fire together, once";
}

TEST(NextTime, ADoubledReadingFiresOnce) {
  EXPECT_EQ(times(cron("30 2 * * *", "Europe/Berlin"), "2024-10-26T12:00:00Z", 2),
            "2024-10-27T00:30:00Z 2024-10-28T01:30:00Z");
  EXPECT_EQ(times(cron("30 2 * * *", "Europe/Berlin"), "2024-10-27T01:10:00Z", 1), "2024-10-28T01:30:00Z")
      << "asked in the second pass";
}

TEST(NextTime, IntervalsNeverDrift) {
  const Schedule schedule = every("PT90M", "2024-01-01T00:00:00Z");
  EXPECT_EQ(times(schedule, "2023-12-31T00:00:00Z", 3),
            "2024-01-01T00:00:00Z 2024-01-01T01:30:00Z 2024-01-01T03:00:00Z");
  EXPECT_EQ(times(schedule, "2034-01-01T00:44:59Z", 1), "2034-01-01T01:30:00Z");
}

TEST(NextTime, StaysBetweenFromAndUntil) {
  Schedule schedule = cron("0 0 * * *");
  schedule.from = instant("2024-01-10T00:00:00Z");
  schedule.until = instant("2024-01-11T00:00:00Z");
  EXPECT_EQ(times(schedule, "2024-01-01T00:00:00Z", 5), "2024-01-10T00:00:00Z 2024-01-11T00:00:00Z");
}

TEST(Jitter, IsTheSameForTheSameFiringAndSpreads) {
  Schedule schedule = cron("0 * * * *");
  schedule.jitter = Duration::of_seconds(600);
  const Timestamp hour = instant("2024-01-01T01:00:00Z");
  EXPECT_EQ(with_jitter(schedule, "a", hour), with_jitter(schedule, "a", hour));
  EXPECT_NE(with_jitter(schedule, "a", hour), with_jitter(schedule, "b", hour));
  std::int64_t least = 600'000, most = 0;
  for (const Timestamp one : next_times(schedule, hour, 200)) {
    const std::int64_t shift = with_jitter(schedule, "a", one).unix_ms() - one.unix_ms();
    least = std::min(least, shift);
    most = std::max(most, shift);
  }
  EXPECT_GE(least, 0);
  EXPECT_LT(least, 60'000);
  EXPECT_LE(most, 600'000);
  EXPECT_GT(most, 540'000);
}

std::string due(const Schedule& schedule, std::string_view handled_until, std::string_view now) {
  const Due found = due_time(schedule, "s", instant(handled_until), instant(now));
  return (found.fire ? format_timestamp(*found.fire) : "nothing") + ", next " +
         (found.next ? format_timestamp(*found.next) : "never");
}

TEST(DueTime, FiresWhatHasCome) {
  const Schedule hourly = cron("0 * * * *");
  EXPECT_EQ(due(hourly, "2024-01-01T00:00:00Z", "2024-01-01T00:59:59Z"), "nothing, next 2024-01-01T01:00:00Z");
  EXPECT_EQ(due(hourly, "2024-01-01T00:00:00Z", "2024-01-01T01:00:00.004Z"),
            "2024-01-01T01:00:00Z, next 2024-01-01T02:00:00Z");
  EXPECT_EQ(due(hourly, "2024-01-01T00:00:00Z", "2024-01-01T01:00:59Z"),
            "2024-01-01T01:00:00Z, next 2024-01-01T02:00:00Z")
      << "late, but not missed";
}

TEST(DueTime, DropsWhatWasMissed) {
  const Schedule hourly = cron("0 * * * *");
  EXPECT_EQ(due(hourly, "2024-01-01T00:00:00Z", "2024-01-03T07:30:00Z"), "nothing, next 2024-01-03T08:00:00Z");
  EXPECT_EQ(due(hourly, "2024-01-01T00:00:00Z", "2024-01-03T07:00:10Z"),
            "2024-01-03T07:00:00Z, next 2024-01-03T08:00:00Z");
}

TEST(DueTime, OnlyTheLastOneIsLate) {
  EXPECT_EQ(due(every("PT1S", "2024-01-01T00:00:00Z"), "2024-01-01T00:00:00Z", "2024-01-01T00:00:30Z"),
            "2024-01-01T00:00:30Z, next 2024-01-01T00:00:31Z");
}

TEST(DueTime, CatchesUpInOrder) {
  Schedule hourly = cron("0 * * * *");
  hourly.catch_up = Duration::of_seconds(3 * 3600);
  EXPECT_EQ(due(hourly, "2024-01-01T00:00:00Z", "2024-01-01T05:30:00Z"),
            "2024-01-01T03:00:00Z, next 2024-01-01T04:00:00Z")
      << "01:00 and 02:00 are too old";
  EXPECT_EQ(due(hourly, "2024-01-01T03:00:00Z", "2024-01-01T05:30:00Z"),
            "2024-01-01T04:00:00Z, next 2024-01-01T05:00:00Z");
}

TEST(DueTime, KnowsJitter) {
  Schedule hourly = cron("0 * * * *");
  hourly.jitter = Duration::of_seconds(1200);
  const Timestamp first = instant("2024-01-01T01:00:00Z");
  const Timestamp really = with_jitter(hourly, "s", first);
  ASSERT_GT(really, first);
  const Timestamp handled_until = instant("2024-01-01T00:00:00Z");
  EXPECT_FALSE(due_time(hourly, "s", handled_until, *add(really, Duration::of_ms(-1))).fire);
  EXPECT_EQ(due_time(hourly, "s", handled_until, *add(really, Duration::of_ms(-1))).next, really);
  EXPECT_EQ(due_time(hourly, "s", handled_until, really).fire, first);
  EXPECT_EQ(due_time(hourly, "s", handled_until, *add(really, Duration::of_seconds(59))).fire, first);
}

TEST(DueTime, AJitterLongerThanThePeriodLosesNoFiring) {
  Schedule schedule = every("PT1M", "2024-01-01T00:00:00Z");
  schedule.jitter = Duration::of_seconds(3600);
  Timestamp handled_until = instant("2024-01-01T00:00:00Z");
  Timestamp now = handled_until;
  for (int round = 1; round <= 200; ++round) {
    const Due waiting = due_time(schedule, "s", handled_until, now);
    ASSERT_FALSE(waiting.fire) << round;
    now = *waiting.next;
    const Due firing = due_time(schedule, "s", handled_until, now);
    ASSERT_EQ(firing.fire, add(instant("2024-01-01T00:00:00Z"), Duration::of_seconds(60 * round)));
    ASSERT_LT(now, *next_time(schedule, *firing.fire)) << "before the next one is due";
    handled_until = firing.handled_until;
  }
}

TEST(DueTime, NeverAgainAfterUntil) {
  Schedule hourly = cron("0 * * * *");
  hourly.until = instant("2024-01-01T01:00:00Z");
  EXPECT_EQ(due(hourly, "2024-01-01T00:00:00Z", "2024-01-01T01:00:00Z"), "2024-01-01T01:00:00Z, next never");
  EXPECT_EQ(due(hourly, "2024-01-01T01:00:00Z", "2024-01-01T02:00:00Z"), "nothing, next never");
}

}  // namespace
}  // namespace cairn
