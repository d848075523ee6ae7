// Calendar arithmetic in a time zone: "a month later", "the start of the week". A local time that the zone skips means
// the first instant after the gap. A local time that occurs twice means the earlier instant. Results outside the years
// 1 to 9999 are empty.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/time.h"
#include "time/time_zone.h"

namespace cairn {

// A date and a time of day as the wall clock shows them.
struct LocalTime {
  Date date;
  std::int32_t second = 0;  // of the day
  std::int32_t nanos = 0;
  auto operator<=>(const LocalTime&) const = default;
};

LocalTime to_local(Timestamp at, const TimeZone& zone);
std::optional<Timestamp> from_local(const LocalTime& local, const TimeZone& zone);

enum class CalendarUnit : std::uint8_t { second, minute, hour, day, week, month, quarter, year };
std::optional<CalendarUnit> find_calendar_unit(std::string_view name);
inline constexpr std::string_view calendar_unit_names = "second, minute, hour, day, week, month, quarter, year";

// The same local time on another day. If the target month is shorter, the result is its last day: one month after 31
// January is the last day of February. Adding zero changes nothing.
std::optional<Timestamp> add_days(Timestamp at, std::int64_t days, const TimeZone& zone);
std::optional<Timestamp> add_months(Timestamp at, std::int64_t months, const TimeZone& zone);

// Weeks begin on Monday. The end is the last nanosecond.
std::optional<Timestamp> start_of(Timestamp at, CalendarUnit unit, const TimeZone& zone);
std::optional<Timestamp> end_of(Timestamp at, CalendarUnit unit, const TimeZone& zone);

// From one local date to the other; negative if `to` is earlier. Months are whole ones: 31 January to 28 February in a
// common year is one month, which is consistent with add_months.
std::int64_t days_between(Timestamp from, Timestamp to, const TimeZone& zone);
std::int64_t months_between(Timestamp from, Timestamp to, const TimeZone& zone);

std::int32_t weekday_of(Date date);   // 1 Monday .. 7 Sunday
std::int32_t day_of_year(Date date);  // from 1
std::int32_t quarter_of(Date date);   // 1 .. 4
// ISO 8601: week 1 has the year's first Thursday.
struct IsoWeek {
  std::int32_t year;
  std::int32_t week;
};
IsoWeek iso_week_of(Date date);
bool is_date(std::int64_t year, std::int64_t month, std::int64_t day);

}  // namespace cairn
