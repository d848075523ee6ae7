#include "time/calendar.h"

#include <gtest/gtest.h>

#include "time/date_pattern.h"

namespace cairn {
namespace {

Timestamp at(std::string_view text) { return *parse_timestamp(text); }
std::string text(std::optional<Timestamp> time) { return time ? format_timestamp(*time) : "nothing"; }
TimeZone zone(std::string_view name) { return TimeZone::find(name).value_or(TimeZone()); }

TEST(Calendar, ASkippedLocalTimeIsTheFirstInstantAfterTheGap) {
  EXPECT_EQ(text(from_local({{2024, 3, 31}, 2 * 3600 + 1800, 7}, zone("Europe/Berlin"))), "2024-03-31T01:00:00Z");
  EXPECT_EQ(text(from_local({{2024, 3, 10}, 2 * 3600, 0}, zone("America/New_York"))), "2024-03-10T07:00:00Z");
  // The zone skipped a whole day.
  EXPECT_EQ(text(from_local({{2011, 12, 30}, 12 * 3600, 0}, zone("Pacific/Apia"))), "2011-12-30T10:00:00Z");
}

TEST(Calendar, ADoubledLocalTimeIsTheEarlierOne) {
  EXPECT_EQ(text(from_local({{2024, 10, 27}, 2 * 3600 + 1800, 0}, zone("Europe/Berlin"))), "2024-10-27T00:30:00Z");
  EXPECT_EQ(text(from_local({{2024, 11, 3}, 3600, 0}, zone("America/New_York"))), "2024-11-03T05:00:00Z");
}

TEST(Calendar, EveryInstantComesBackOrIsTheLaterOfTwo) {
  for (const char* name :
       {"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Africa/Casablanca"}) {
    const TimeZone place = zone(name);
    for (std::int64_t seconds = at("2023-01-01T00:00:00Z").seconds; seconds < at("2026-01-01T00:00:00Z").seconds;
         seconds += 1777) {
      const auto back = from_local(to_local({seconds, 0}, place), place);
      ASSERT_TRUE(back.has_value());
      ASSERT_LE(back->seconds, seconds) << name;
      ASSERT_EQ(to_local(*back, place), to_local({seconds, 0}, place)) << name;
    }
  }
}

TEST(Calendar, MonthsEndWhereTheMonthEnds) {
  const TimeZone utc;
  EXPECT_EQ(text(add_months(at("2024-01-31T10:00:00Z"), 1, utc)), "2024-02-29T10:00:00Z");
  EXPECT_EQ(text(add_months(at("2024-03-31T10:00:00Z"), -13, utc)), "2023-02-28T10:00:00Z");
  EXPECT_EQ(text(add_months(at("9999-12-31T00:00:00Z"), 1, utc)), "nothing");
  EXPECT_EQ(text(add_months(at("2024-01-31T10:00:00Z"), INT64_MIN, utc)), "nothing");
  EXPECT_EQ(months_between(at("2024-01-31T10:00:00Z"), at("2024-02-29T10:00:00Z"), utc), 1);
  EXPECT_EQ(months_between(at("2024-01-31T10:00:00Z"), at("2024-02-29T09:59:59Z"), utc), 0);
  EXPECT_EQ(months_between(at("2024-02-29T10:00:00Z"), at("2024-01-31T10:00:00Z"), utc), -1);
}

TEST(Calendar, HoursOfAClockThatJumpsByHalfAnHour) {
  const TimeZone howe = zone("Australia/Lord_Howe");
  const auto hour = [&](const char* when) {
    return text(start_of(at(when), CalendarUnit::hour, howe)) + " " + text(end_of(at(when), CalendarUnit::hour, howe));
  };
  // 7 April 2024, 02:00 (+11:00): the clock goes back to 01:30 (+10:30). That hour lasts 90 minutes.
  EXPECT_EQ(hour("2024-04-06T14:15:00Z"), "2024-04-06T14:00:00Z 2024-04-06T15:29:59.999999999Z");
  EXPECT_EQ(hour("2024-04-06T15:15:00Z"), "2024-04-06T14:00:00Z 2024-04-06T15:29:59.999999999Z");
  EXPECT_EQ(hour("2024-04-06T15:30:00Z"), "2024-04-06T15:30:00Z 2024-04-06T16:29:59.999999999Z");
  // 6 October 2024, 02:00 (+10:30): the clock jumps to 02:30 (+11:00). That hour lasts 30 minutes.
  EXPECT_EQ(hour("2024-10-05T15:29:59Z"), "2024-10-05T14:30:00Z 2024-10-05T15:29:59.999999999Z");
  EXPECT_EQ(hour("2024-10-05T15:45:00Z"), "2024-10-05T15:30:00Z 2024-10-05T15:59:59.999999999Z");
  EXPECT_EQ(hour("2024-10-05T16:00:00Z"), "2024-10-05T16:00:00Z 2024-10-05T16:59:59.999999999Z");
  // Where the clock jumps by a whole hour, the doubled hour is two hours.
  EXPECT_EQ(text(start_of(at("2024-10-27T01:30:00Z"), CalendarUnit::hour, zone("Europe/Berlin"))),
            "2024-10-27T01:00:00Z");
}

TEST(Calendar, TheLocalYear10000HasNoPeriods) {
  const TimeZone apia = zone("Pacific/Apia");
  const Timestamp last = at("9999-12-31T23:10:56Z");
  for (const auto unit : {CalendarUnit::day, CalendarUnit::week, CalendarUnit::quarter, CalendarUnit::year}) {
    EXPECT_EQ(text(end_of(last, unit, apia)), "nothing");
  }
  EXPECT_EQ(text(end_of(last, CalendarUnit::year, TimeZone())), "9999-12-31T23:59:59.999999999Z");
}

TEST(Calendar, TheEndIsOneNanosecondBeforeTheNextBegin) {
  for (const auto unit :
       {CalendarUnit::day, CalendarUnit::week, CalendarUnit::month, CalendarUnit::quarter, CalendarUnit::year}) {
    const auto end = end_of(at("2024-03-31T12:00:00Z"), unit, zone("Europe/Berlin"));
    ASSERT_TRUE(end.has_value());
    EXPECT_EQ(end->nanos, 999'999'999);
    const Timestamp next{end->seconds + 1, 0};
    EXPECT_EQ(start_of(next, unit, zone("Europe/Berlin")), next);
  }
}

TEST(DatePattern, ReadsWhatItWrote) {
  const Timestamp time = at("2024-02-29T15:04:05.123456789Z");
  for (const char* pattern : {"yyyy-MM-dd'T'HH:mm:ss.SSSSSSSSSXXX", "EEEE, d MMMM yyyy h:mm:ss.SSSSSSSSS a xx",
                              "ssSSSSSSSSSHHmmddMMyyyyXX"}) {
    for (const char* name : {"UTC", "Europe/Berlin", "America/St_Johns"}) {
      const auto written = format_date(time, pattern, zone(name), name);
      ASSERT_TRUE(written.has_value());
      const auto read = parse_date(*written, pattern, TimeZone());
      ASSERT_TRUE(read.has_value()) << *written;
      EXPECT_EQ(*read, time) << *written;
    }
  }
}

TEST(DatePattern, SaysWhatDoesNotFitAndWhere) {
  const auto wrong = parse_date("2024-2-29", "yyyy-MM-dd", TimeZone());
  ASSERT_FALSE(wrong.has_value());
  EXPECT_NE(wrong.error().message.find("expected MM at column 6"), std::string::npos) << wrong.error().message;
  const auto unknown = format_date(Timestamp{}, "yyyy-MM-ddTHH", TimeZone(), "UTC");
  ASSERT_FALSE(unknown.has_value());
  EXPECT_NE(unknown.error().message.find("has T, which means nothing"), std::string::npos) << unknown.error().message;
}

}  // namespace
}  // namespace cairn
