#include "time/calendar.h"

#include <algorithm>
#include <array>
#include <utility>

namespace cairn {

namespace {

// No zone was ever further from UTC. The offsets this long before and after a local time are the only candidates.
constexpr std::int64_t offset_max = 16 * 3'600;

std::int64_t floor_divide(std::int64_t value, std::int64_t by) { return value / by - (value % by < 0 ? 1 : 0); }

std::optional<Timestamp> in_range(std::int64_t seconds, std::int32_t nanos) {
  if (seconds < Timestamp::seconds_min || seconds > Timestamp::seconds_max) return std::nullopt;
  return Timestamp{seconds, nanos};
}

std::optional<Date> date_in_range(std::int64_t days) {
  static const std::int64_t first = days_from_date({1, 1, 1});
  static const std::int64_t last = days_from_date({9999, 12, 31});
  if (days < first || days > last) return std::nullopt;
  return date_from_days(days);
}

// Adds months. If the target month lacks that day, the result is its last day.
std::optional<Date> plus_months(Date date, std::int64_t months) {
  constexpr std::int64_t most = 12 * 10'000;
  if (months > most || months < -most) return std::nullopt;
  const std::int64_t total = std::int64_t{date.year} * 12 + date.month - 1 + months;
  const std::int64_t year = floor_divide(total, 12);
  if (year < 1 || year > 9999) return std::nullopt;
  const auto month = static_cast<std::int32_t>(total - year * 12 + 1);
  const auto year_number = static_cast<std::int32_t>(year);
  return Date{year_number, month, std::min(date.day, days_in_month(year_number, month))};
}

// The first day of the unit that contains `date`, moved by `units`.
std::optional<Date> first_day(Date date, CalendarUnit unit, std::int64_t units) {
  switch (unit) {
    case CalendarUnit::week: return date_in_range(days_from_date(date) - (weekday_of(date) - 1) + 7 * units);
    case CalendarUnit::month: return plus_months({date.year, date.month, 1}, units);
    case CalendarUnit::quarter: return plus_months({date.year, (date.month - 1) / 3 * 3 + 1, 1}, 3 * units);
    case CalendarUnit::year: return plus_months({date.year, 1, 1}, 12 * units);
    case CalendarUnit::day:
    case CalendarUnit::hour:
    case CalendarUnit::minute:
    case CalendarUnit::second: break;
  }
  return date_in_range(days_from_date(date) + units);
}

// The length of units that divide the day evenly; 0 for the others.
std::int32_t clock_seconds(CalendarUnit unit) {
  switch (unit) {
    case CalendarUnit::second: return 1;
    case CalendarUnit::minute: return 60;
    case CalendarUnit::hour: return 3'600;
    case CalendarUnit::day:
    case CalendarUnit::week:
    case CalendarUnit::month:
    case CalendarUnit::quarter:
    case CalendarUnit::year: break;
  }
  return 0;
}

}  // namespace

LocalTime to_local(Timestamp at, const TimeZone& zone) {
  const std::int64_t seconds = at.seconds + zone.offset_at(at.seconds);
  const std::int64_t days = floor_divide(seconds, day_seconds);
  return {date_from_days(days), static_cast<std::int32_t>(seconds - days * day_seconds), at.nanos};
}

std::optional<Timestamp> from_local(const LocalTime& local, const TimeZone& zone) {
  const std::int64_t wanted = days_from_date(local.date) * day_seconds + local.second;
  const std::int64_t before = zone.offset_at(wanted - offset_max);
  const std::int64_t after = zone.offset_at(wanted + offset_max);
  const std::int64_t by_before = wanted - before;
  if (zone.offset_at(by_before) == before) return in_range(by_before, local.nanos);
  const std::int64_t by_after = wanted - after;
  if (zone.offset_at(by_after) == after) return in_range(by_after, local.nanos);
  // The local time is skipped: the gap ends where the new offset begins.
  std::int64_t low = by_after;
  std::int64_t high = by_before;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (zone.offset_at(middle) == before ? low : high) = middle;
  }
  return in_range(high, 0);
}

std::optional<CalendarUnit> find_calendar_unit(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, CalendarUnit>, 8> units{{{"second", CalendarUnit::second},
                                                                                   {"minute", CalendarUnit::minute},
                                                                                   {"hour", CalendarUnit::hour},
                                                                                   {"day", CalendarUnit::day},
                                                                                   {"week", CalendarUnit::week},
                                                                                   {"month", CalendarUnit::month},
                                                                                   {"quarter", CalendarUnit::quarter},
                                                                                   {"year", CalendarUnit::year}}};
  for (const auto& [known, unit] : units) {
    if (known == name) return unit;
  }
  return std::nullopt;
}

std::optional<Timestamp> add_days(Timestamp at, std::int64_t days, const TimeZone& zone) {
  if (days == 0) return at;
  constexpr std::int64_t most = 366 * 10'000;
  if (days > most || days < -most) return std::nullopt;
  LocalTime local = to_local(at, zone);
  const auto date = date_in_range(days_from_date(local.date) + days);
  if (!date) return std::nullopt;
  local.date = *date;
  return from_local(local, zone);
}

std::optional<Timestamp> add_months(Timestamp at, std::int64_t months, const TimeZone& zone) {
  if (months == 0) return at;
  LocalTime local = to_local(at, zone);
  const auto date = plus_months(local.date, months);
  if (!date) return std::nullopt;
  local.date = *date;
  return from_local(local, zone);
}

namespace {

// The first second after `from`, at most `to`, whose offset differs from the offset at `from`.
std::int64_t offset_change(std::int64_t from, std::int64_t to, const TimeZone& zone) {
  const std::int32_t offset = zone.offset_at(from);
  while (to - from > 1) {
    const std::int64_t middle = from + (to - from) / 2;
    (zone.offset_at(middle) == offset ? from : to) = middle;
  }
  return to;
}

std::int64_t clock_unit(std::int64_t seconds, std::int32_t length, const TimeZone& zone) {
  return floor_divide(seconds + zone.offset_at(seconds), length);
}

// The wall clock may jump inside a unit, for example by half an hour on Lord Howe Island. A unit that the clock jumps
// into begins at the jump. A unit that the clock is set back into has begun before.
std::int64_t clock_start(std::int64_t at, std::int32_t length, const TimeZone& zone) {
  const std::int64_t wall = at + zone.offset_at(at);
  const std::int64_t start = at - (wall - floor_divide(wall, length) * length);
  if (start == at || zone.offset_at(start) == zone.offset_at(at)) return start;
  const std::int64_t change = offset_change(start, at, zone);
  if (clock_unit(change - 1, length, zone) != clock_unit(at, length, zone)) return change;
  return clock_start(change - 1, length, zone);
}

std::int64_t clock_end(std::int64_t at, std::int32_t length, const TimeZone& zone) {
  const std::int64_t wall = at + zone.offset_at(at);
  std::int64_t next = at - (wall - floor_divide(wall, length) * length) + length;
  if (zone.offset_at(next) != zone.offset_at(at)) next = offset_change(at, next, zone);
  return clock_start(next, length, zone) == next ? next - 1 : clock_end(next, length, zone);
}

}  // namespace

std::optional<Timestamp> start_of(Timestamp at, CalendarUnit unit, const TimeZone& zone) {
  const LocalTime local = to_local(at, zone);
  if (const std::int32_t length = clock_seconds(unit); length != 0) {
    return in_range(clock_start(at.seconds, length, zone), 0);
  }
  const auto date = first_day(local.date, unit, 0);
  if (!date) return std::nullopt;
  return from_local({*date, 0, 0}, zone);
}

std::optional<Timestamp> end_of(Timestamp at, CalendarUnit unit, const TimeZone& zone) {
  constexpr std::int32_t last_nano = 999'999'999;
  const LocalTime local = to_local(at, zone);
  if (const std::int32_t length = clock_seconds(unit); length != 0) {
    return in_range(clock_end(at.seconds, length, zone), last_nano);
  }
  const auto next = first_day(local.date, unit, 1);
  // East of Greenwich the last hours of the range belong to the local year 10000.
  if (local.date.year > 9999) return std::nullopt;
  // The last unit of the year 9999 has an end but no successor.
  if (!next) return from_local({{9999, 12, 31}, static_cast<std::int32_t>(day_seconds) - 1, last_nano}, zone);
  const auto begins = from_local({*next, 0, 0}, zone);
  if (!begins) return std::nullopt;
  return in_range(begins->seconds - 1, last_nano);
}

std::int64_t days_between(Timestamp from, Timestamp to, const TimeZone& zone) {
  return days_from_date(to_local(to, zone).date) - days_from_date(to_local(from, zone).date);
}

std::int64_t months_between(Timestamp from, Timestamp to, const TimeZone& zone) {
  if (to < from) return -months_between(to, from, zone);
  const LocalTime begin = to_local(from, zone);
  const LocalTime end = to_local(to, zone);
  std::int64_t months = (std::int64_t{end.date.year} - begin.date.year) * 12 + end.date.month - begin.date.month;
  const auto date = plus_months(begin.date, months);
  if (date && LocalTime{*date, begin.second, begin.nanos} > end) --months;
  return std::max<std::int64_t>(months, 0);
}

std::int32_t weekday_of(Date date) {
  // 1970-01-01 was a Thursday.
  const std::int64_t days = days_from_date(date) + 3;
  return static_cast<std::int32_t>(days - floor_divide(days, 7) * 7) + 1;
}

std::int32_t day_of_year(Date date) {
  return static_cast<std::int32_t>(days_from_date(date) - days_from_date({date.year, 1, 1})) + 1;
}

std::int32_t quarter_of(Date date) { return (date.month - 1) / 3 + 1; }

IsoWeek iso_week_of(Date date) {
  const std::int64_t thursday = days_from_date(date) - weekday_of(date) + 4;
  const Date in_week = date_from_days(thursday);
  return {in_week.year, (day_of_year(in_week) - 1) / 7 + 1};
}

bool is_date(std::int64_t year, std::int64_t month, std::int64_t day) {
  return year >= 1 && year <= 9999 && month >= 1 && month <= 12 && day >= 1 &&
         day <= days_in_month(static_cast<std::int32_t>(year), static_cast<std::int32_t>(month));
}

}  // namespace cairn
