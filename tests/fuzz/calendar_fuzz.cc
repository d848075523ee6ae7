// Any instants in any zone: a period encloses the instant that it is computed from, its start is its own start, and the
// functions for the difference of two dates agree with those that add.
#include "time/calendar.h"

#include "input.h"

namespace {

cairn::Timestamp instant(std::string_view& input) {
  constexpr std::int64_t range = cairn::Timestamp::seconds_max - cairn::Timestamp::seconds_min + 1;
  const auto number = static_cast<std::int64_t>(cairn::fuzzing::take_number(input) >> 1);
  const std::int32_t nanos = cairn::fuzzing::take_byte(input) * 3'921'568;
  return {cairn::Timestamp::seconds_min + number % range, nanos};
}

}  // namespace

void fuzz(std::string_view input) {
  using namespace cairn;
  static const std::vector<TimeZone> zones = [] {
    std::vector<TimeZone> found;
    for (const char* name : {"UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Apia",
                             "Australia/Lord_Howe", "Africa/Casablanca", "-09:30"}) {
      const auto zone = TimeZone::find(name);
      CAIRN_ASSERT(zone.has_value());
      found.push_back(*zone);
    }
    return found;
  }();
  const TimeZone& zone = zones[fuzzing::take_byte(input) % zones.size()];
  const auto unit = static_cast<CalendarUnit>(fuzzing::take_byte(input) % 8);
  const auto count = static_cast<std::int8_t>(fuzzing::take_byte(input));
  const Timestamp at = instant(input);
  const Timestamp other = instant(input);

  const LocalTime local = to_local(at, zone);
  CAIRN_ASSERT(local.second >= 0 && local.second < 86'400 && local.nanos == at.nanos);
  const Date date = local.date;
  CAIRN_ASSERT(date_from_days(days_from_date(date)) == date);
  CAIRN_ASSERT(weekday_of(date) >= 1 && weekday_of(date) <= 7 && day_of_year(date) >= 1 && day_of_year(date) <= 366);
  const IsoWeek week = iso_week_of(date);
  CAIRN_ASSERT(week.week >= 1 && week.week <= 53 && std::abs(week.year - date.year) <= 1);
  // A local time that occurs twice names the earlier instant.
  if (const auto back = from_local(local, zone)) CAIRN_ASSERT(*back <= at && to_local(*back, zone) == local);

  const auto start = start_of(at, unit, zone);
  const auto end = end_of(at, unit, zone);
  if (start) {
    CAIRN_ASSERT(*start <= at);
    CAIRN_ASSERT(start_of(*start, unit, zone) == start);
  }
  if (end) CAIRN_ASSERT(at <= *end);
  if (start && end) CAIRN_ASSERT(end_of(*start, unit, zone) == end);

  // A zone may skip the local time, or the whole day.
  if (const auto later = add_days(at, count, zone); later && to_local(*later, zone).second == local.second) {
    CAIRN_ASSERT(days_between(at, *later, zone) == count);
  }
  CAIRN_ASSERT(days_between(at, other, zone) == -days_between(other, at, zone));
  const std::int64_t months = months_between(at, other, zone);
  CAIRN_ASSERT(at <= other ? months >= 0 : months <= 0);
}
