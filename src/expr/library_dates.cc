#include "expr/business_calendar.h"
#include "expr/function.h"
#include "time/calendar.h"
#include "time/date_pattern.h"

namespace cairn::expr {

namespace {

std::optional<TimeZone> find_zone(Context& context, std::string_view name) {
  auto zone = TimeZone::find(name);
  if (!zone) {
    context.fail("invalid_argument",
                 "`" + std::string(name.substr(0, 60)) + "` is not a time zone; write Europe/Berlin, UTC or +02:00");
  }
  return zone;
}

// The zone is always the last argument. The default is UTC.
std::optional<TimeZone> zone_of(Context& context, std::span<Value> args, std::size_t index) {
  if (args.size() <= index) return TimeZone();
  return find_zone(context, args[index].as_text());
}

Value result(Context& context, std::optional<Timestamp> at) {
  if (!at) return context.fail("overflow", "the time is beyond the years 1 to 9999");
  return Value::timestamp(*at);
}

Value report_date_error(Context& context, const Error& error) {
  return context.fail("invalid_argument", error.message);
}

Value date(Context& context, std::span<Value> args) {
  const auto zone = zone_of(context, args, 3);
  if (!zone) return context.error();
  const std::int64_t year = args[0].as_integer();
  const std::int64_t month = args[1].as_integer();
  const std::int64_t day = args[2].as_integer();
  if (!is_date(year, month, day)) {
    return context.fail("invalid_argument", "there is no day " + std::to_string(year) + "-" + std::to_string(month) +
                                                "-" + std::to_string(day));
  }
  const Date on{static_cast<std::int32_t>(year), static_cast<std::int32_t>(month), static_cast<std::int32_t>(day)};
  return result(context, from_local({on, 0, 0}, *zone));
}

template <auto add, std::int64_t factor>
Value add_units(Context& context, std::span<Value> args) {
  const auto zone = zone_of(context, args, 2);
  if (!zone) return context.error();
  constexpr std::int64_t most = 10'000'000;
  const std::int64_t count = args[1].as_integer();
  if (count > most || count < -most) return result(context, std::nullopt);
  return result(context, add(args[0].as_timestamp(), count * factor, *zone));
}

template <auto bound>
Value bound_of(Context& context, std::span<Value> args) {
  const auto zone = zone_of(context, args, 2);
  if (!zone) return context.error();
  const auto unit = find_calendar_unit(args[1].as_text());
  if (!unit) {
    return context.fail("invalid_argument", "\"" + std::string(args[1].as_text().substr(0, 40)) +
                                                "\" is no unit; there are " + std::string(calendar_unit_names));
  }
  return result(context, bound(args[0].as_timestamp(), *unit, *zone));
}

template <auto part>
Value part_of(Context& context, std::span<Value> args) {
  const auto zone = zone_of(context, args, 1);
  if (!zone) return context.error();
  return Value::integer(part(to_local(args[0].as_timestamp(), *zone)));
}

template <auto count, std::int64_t divisor>
Value between(Context& context, std::span<Value> args) {
  const auto zone = zone_of(context, args, 2);
  if (!zone) return context.error();
  return Value::integer(count(args[0].as_timestamp(), args[1].as_timestamp(), *zone) / divisor);
}

Value format(Context& context, std::span<Value> args) {
  const auto zone = zone_of(context, args, 2);
  if (!zone || !context.spend_steps(1 + args[1].as_text().size() / 4)) return context.error();
  const auto text =
      format_date(args[0].as_timestamp(), args[1].as_text(), *zone, args.size() > 2 ? args[2].as_text() : "UTC");
  if (!text.has_value()) return report_date_error(context, text.error());
  return context.text(*text);
}

Value parse(Context& context, std::span<Value> args) {
  const auto zone = zone_of(context, args, 2);
  if (!zone || !context.spend_steps(1 + args[1].as_text().size() / 4)) return context.error();
  const auto at = parse_date(args[0].as_text(), args[1].as_text(), *zone);
  if (!at.has_value()) return report_date_error(context, at.error());
  return Value::timestamp(*at);
}

Value zone_offset(Context& context, std::span<Value> args) {
  const auto zone = zone_of(context, args, 1);
  if (!zone) return context.error();
  return Value::duration(Duration::of_seconds(zone->offset_at(args[0].as_timestamp().seconds)));
}

struct BusinessArguments {
  BusinessCalendar calendar;
  TimeZone zone;
};

std::optional<BusinessArguments> business_arguments(Context& context, const Value* map) {
  auto calendar = read_business_calendar(context, map ? *map : Value::map({}));
  if (!calendar) return std::nullopt;
  auto zone = find_zone(context, calendar->zone);
  if (!zone) return std::nullopt;
  return BusinessArguments{*std::move(calendar), *std::move(zone)};
}

Value is_business_day(Context& context, std::span<Value> args) {
  const auto place = business_arguments(context, args.size() > 1 ? &args[1] : nullptr);
  if (!place) return context.error();
  const LocalTime local = to_local(args[0].as_timestamp(), place->zone);
  return Value::boolean(place->calendar.is_business_day(days_from_date(local.date)));
}

Value add_business_days(Context& context, std::span<Value> args) {
  const auto place = business_arguments(context, args.size() > 2 ? &args[2] : nullptr);
  if (!place) return context.error();
  const Timestamp at = args[0].as_timestamp();
  const std::int64_t begin = days_from_date(to_local(at, place->zone).date);
  const std::int64_t direction = args[1].as_integer() < 0 ? -1 : 1;
  constexpr std::int64_t range_days = 366 * 10'000;
  std::int64_t day = begin;
  for (std::int64_t left = args[1].as_integer(); left != 0;) {
    if (!context.spend_steps(1)) return context.error();
    day += direction;
    if (day - begin > range_days || begin - day > range_days) return result(context, std::nullopt);
    if (place->calendar.is_business_day(day)) left -= direction;
  }
  return result(context, add_days(at, day - begin, place->zone));
}

Value business_days_between(Context& context, std::span<Value> args) {
  const auto place = business_arguments(context, args.size() > 2 ? &args[2] : nullptr);
  if (!place) return context.error();
  const std::int64_t from = days_from_date(to_local(args[0].as_timestamp(), place->zone).date);
  const std::int64_t to = days_from_date(to_local(args[1].as_timestamp(), place->zone).date);
  const std::int64_t direction = to < from ? -1 : 1;
  std::int64_t count = 0;
  for (std::int64_t day = from; day != to;) {
    if (!context.spend_steps(1)) return context.error();
    day += direction;
    if (place->calendar.is_business_day(day)) count += direction;
  }
  return Value::integer(count);
}

constexpr auto year_part = [](const LocalTime& local) { return local.date.year; };
constexpr auto quarter_part = [](const LocalTime& local) { return quarter_of(local.date); };
constexpr auto month_part = [](const LocalTime& local) { return local.date.month; };
constexpr auto day_part = [](const LocalTime& local) { return local.date.day; };
constexpr auto hour_part = [](const LocalTime& local) { return local.second / 3'600; };
constexpr auto minute_part = [](const LocalTime& local) { return local.second / 60 % 60; };
constexpr auto second_part = [](const LocalTime& local) { return local.second % 60; };
constexpr auto weekday_part = [](const LocalTime& local) { return weekday_of(local.date); };
constexpr auto day_of_year_part = [](const LocalTime& local) { return day_of_year(local.date); };
constexpr auto week_part = [](const LocalTime& local) { return iso_week_of(local.date).week; };
constexpr auto week_year_part = [](const LocalTime& local) { return iso_week_of(local.date).year; };
constexpr auto month_days_part = [](const LocalTime& local) {
  return days_in_month(local.date.year, local.date.month);
};

constexpr Overload dates_overloads[] = {
    {"date(int, int, int) -> timestamp", date, "Midnight of a day in UTC.", "date(2024, 2, 29)",
     R"(timestamp("2024-02-29T00:00:00Z"))"},
    {"date(int, int, int, string) -> timestamp", date, "The begin of a day in a time zone.",
     R"(date(2024, 7, 1, "Europe/Berlin"))", R"(timestamp("2024-06-30T22:00:00Z"))"},

    {"timestamp.addDays(int) -> timestamp", add_units<add_days, 1>, "So many days later in UTC.",
     "date(2024, 2, 28).addDays(2)", "date(2024, 3, 1)"},
    {"timestamp.addDays(int, string) -> timestamp", add_units<add_days, 1>,
     "The same time of day so many days later in a time zone.",
     R"(timestamp("2024-03-30T08:00:00Z").addDays(1, "Europe/Berlin"))", R"(timestamp("2024-03-31T07:00:00Z"))"},
    {"timestamp.addWeeks(int) -> timestamp", add_units<add_days, 7>, "So many weeks later in UTC.",
     "date(2024, 2, 28).addWeeks(1)", "date(2024, 3, 6)"},
    {"timestamp.addWeeks(int, string) -> timestamp", add_units<add_days, 7>,
     "The same time of day so many weeks later in a time zone.",
     R"(timestamp("2024-03-24T08:00:00Z").addWeeks(1, "Europe/Berlin"))", R"(timestamp("2024-03-31T07:00:00Z"))"},
    {"timestamp.addMonths(int) -> timestamp", add_units<add_months, 1>,
     "The same day so many months later in UTC, or the last day of that month when it is shorter.",
     "date(2024, 1, 31).addMonths(1)", "date(2024, 2, 29)"},
    {"timestamp.addMonths(int, string) -> timestamp", add_units<add_months, 1>, "The same in a time zone.",
     R"(timestamp("2024-03-15T11:00:00Z").addMonths(1, "Europe/Berlin"))", R"(timestamp("2024-04-15T10:00:00Z"))"},
    {"timestamp.addYears(int) -> timestamp", add_units<add_months, 12>,
     "The same day so many years later in UTC; 29 February becomes the 28th when it must.",
     "date(2024, 2, 29).addYears(1)", "date(2025, 2, 28)"},
    {"timestamp.addYears(int, string) -> timestamp", add_units<add_months, 12>, "The same in a time zone.",
     R"(date(2024, 2, 29, "Asia/Tokyo").addYears(1, "Asia/Tokyo"))", R"(date(2025, 2, 28, "Asia/Tokyo"))"},

    {"timestamp.startOf(string) -> timestamp", bound_of<start_of>,
     "The begin of the second, minute, hour, day, week (Monday), month, quarter or year in UTC.",
     R"(timestamp("2024-05-17T10:20:30Z").startOf("quarter"))", "date(2024, 4, 1)"},
    {"timestamp.startOf(string, string) -> timestamp", bound_of<start_of>, "The same in a time zone.",
     R"(timestamp("2024-05-17T23:30:00Z").startOf("day", "Europe/Berlin"))", R"(timestamp("2024-05-17T22:00:00Z"))"},
    {"timestamp.endOf(string) -> timestamp", bound_of<end_of>, "The last nanosecond of the unit in UTC.",
     R"(date(2024, 2, 1).endOf("month"))", R"(timestamp("2024-02-29T23:59:59.999999999Z"))"},
    {"timestamp.endOf(string, string) -> timestamp", bound_of<end_of>, "The same in a time zone.",
     R"(date(2024, 2, 1).endOf("month", "Europe/Berlin"))", R"(timestamp("2024-02-29T22:59:59.999999999Z"))"},

    {"timestamp.daysBetween(timestamp) -> int", between<days_between, 1>,
     "From the date of the first to the date of the second in UTC; negative when that is before.",
     "date(2024, 2, 1).daysBetween(date(2024, 3, 1))", "29"},
    {"timestamp.daysBetween(timestamp, string) -> int", between<days_between, 1>, "The same in a time zone.",
     R"(timestamp("2024-02-01T23:30:00Z").daysBetween(timestamp("2024-02-02T01:00:00Z"), "Europe/Berlin"))", "0"},
    {"timestamp.monthsBetween(timestamp) -> int", between<months_between, 1>, "Whole months in UTC.",
     "date(2024, 1, 31).monthsBetween(date(2024, 2, 29))", "1"},
    {"timestamp.monthsBetween(timestamp, string) -> int", between<months_between, 1>, "The same in a time zone.",
     R"(date(2024, 1, 15).monthsBetween(date(2024, 4, 14), "UTC"))", "2"},
    {"timestamp.yearsBetween(timestamp) -> int", between<months_between, 12>,
     "Whole years in UTC, as ages are counted.", "date(2000, 6, 15).yearsBetween(date(2024, 6, 14))", "23"},
    {"timestamp.yearsBetween(timestamp, string) -> int", between<months_between, 12>, "The same in a time zone.",
     R"(date(2000, 6, 15).yearsBetween(date(2024, 6, 15), "UTC"))", "24"},

    {"timestamp.year() -> int", part_of<year_part>, "The year in UTC.", "date(2024, 5, 17).year()", "2024"},
    {"timestamp.year(string) -> int", part_of<year_part>, "The year in a time zone.",
     R"(timestamp("2023-12-31T23:30:00Z").year("Europe/Berlin"))", "2024"},
    {"timestamp.quarter() -> int", part_of<quarter_part>, "The quarter, 1 to 4, in UTC.", "date(2024, 5, 17).quarter()",
     "2"},
    {"timestamp.quarter(string) -> int", part_of<quarter_part>, "The quarter in a time zone.",
     R"(timestamp("2024-03-31T23:30:00Z").quarter("Europe/Berlin"))", "2"},
    {"timestamp.month() -> int", part_of<month_part>, "The month, 1 to 12, in UTC.", "date(2024, 5, 17).month()", "5"},
    {"timestamp.month(string) -> int", part_of<month_part>, "The month in a time zone.",
     R"(timestamp("2024-05-31T23:30:00Z").month("Europe/Berlin"))", "6"},
    {"timestamp.day() -> int", part_of<day_part>, "The day of the month, from 1, in UTC.", "date(2024, 5, 17).day()",
     "17"},
    {"timestamp.day(string) -> int", part_of<day_part>, "The day of the month in a time zone.",
     R"(timestamp("2024-05-17T23:30:00Z").day("Europe/Berlin"))", "18"},
    {"timestamp.weekday() -> int", part_of<weekday_part>, "1 for Monday to 7 for Sunday, in UTC.",
     "date(2024, 5, 17).weekday()", "5"},
    {"timestamp.weekday(string) -> int", part_of<weekday_part>, "The weekday in a time zone.",
     R"(timestamp("2024-05-17T23:30:00Z").weekday("Europe/Berlin"))", "6"},
    {"timestamp.dayOfYear() -> int", part_of<day_of_year_part>, "The day of the year, from 1, in UTC.",
     "date(2024, 12, 31).dayOfYear()", "366"},
    {"timestamp.dayOfYear(string) -> int", part_of<day_of_year_part>, "The day of the year in a time zone.",
     R"(timestamp("2023-12-31T23:30:00Z").dayOfYear("Europe/Berlin"))", "1"},
    {"timestamp.weekOfYear() -> int", part_of<week_part>, "The ISO 8601 week, 1 to 53, in UTC.",
     "date(2021, 1, 3).weekOfYear()", "53"},
    {"timestamp.weekOfYear(string) -> int", part_of<week_part>, "The ISO 8601 week in a time zone.",
     R"(timestamp("2021-01-03T23:30:00Z").weekOfYear("Europe/Berlin"))", "1"},
    {"timestamp.weekYear() -> int", part_of<week_year_part>, "The year that the ISO 8601 week belongs to, in UTC.",
     "date(2021, 1, 3).weekYear()", "2020"},
    {"timestamp.weekYear(string) -> int", part_of<week_year_part>, "The year of the ISO 8601 week in a time zone.",
     R"(timestamp("2021-01-03T23:30:00Z").weekYear("Europe/Berlin"))", "2021"},
    {"timestamp.daysInMonth() -> int", part_of<month_days_part>, "How many days its month has, in UTC.",
     "date(2024, 2, 1).daysInMonth()", "29"},
    {"timestamp.daysInMonth(string) -> int", part_of<month_days_part>, "How many days its month has in a time zone.",
     R"(timestamp("2023-01-31T23:30:00Z").daysInMonth("Europe/Berlin"))", "28"},
    {"timestamp.hour() -> int", part_of<hour_part>, "The hour, 0 to 23, in UTC.",
     R"(timestamp("2024-05-17T10:20:30Z").hour())", "10"},
    {"timestamp.hour(string) -> int", part_of<hour_part>, "The hour in a time zone.",
     R"(timestamp("2024-05-17T10:20:30Z").hour("Europe/Berlin"))", "12"},
    {"timestamp.minute() -> int", part_of<minute_part>, "The minute, 0 to 59, in UTC.",
     R"(timestamp("2024-05-17T10:20:30Z").minute())", "20"},
    {"timestamp.minute(string) -> int", part_of<minute_part>, "The minute in a time zone.",
     R"(timestamp("2024-05-17T10:20:30Z").minute("Asia/Kolkata"))", "50"},
    {"timestamp.second() -> int", part_of<second_part>, "The second, 0 to 59.",
     R"(timestamp("2024-05-17T10:20:30Z").second())", "30"},

    {"timestamp.format(string) -> string", format, "As text in a pattern, in UTC.",
     R"(date(2024, 2, 9).format("EEE, d MMM yyyy"))", R"("Fri, 9 Feb 2024")"},
    {"timestamp.format(string, string) -> string", format, "As text in a pattern, in a time zone.",
     R"(timestamp("2024-07-01T10:00:00Z").format("dd.MM.yyyy HH:mm XXX", "Europe/Berlin"))",
     R"("01.07.2024 12:00 +02:00")"},
    {"parseDate(string, string) -> timestamp", parse, "Reads text in a pattern; without an offset in it, as UTC.",
     R"(parseDate("09.02.2024", "dd.MM.yyyy"))", "date(2024, 2, 9)"},
    {"parseDate(string, string, string) -> timestamp", parse,
     "Reads text in a pattern; without an offset in it, as the local time of a zone.",
     R"(parseDate("1 Jul 2024 2:05 PM", "d MMM yyyy h:mm a", "Europe/Berlin"))",
     R"(timestamp("2024-07-01T12:05:00Z"))"},
    {"timestamp.zoneOffset(string) -> duration", zone_offset, "How far the clocks of a zone are ahead of UTC then.",
     R"(date(2024, 7, 1).zoneOffset("Europe/Berlin"))", R"(duration("2h"))"},

    {"timestamp.isBusinessDay() -> bool", is_business_day, "Whether it is Monday to Friday in UTC.",
     "date(2024, 5, 18).isBusinessDay()", "false"},
    {"timestamp.isBusinessDay(map(string, dyn)) -> bool", is_business_day,
     "Whether it is neither weekend nor holiday in a calendar {\"holidays\", \"weekend\", \"zone\"}.",
     R"(date(2024, 12, 25).isBusinessDay({"holidays": ["12-25"]}))", "false"},
    {"timestamp.addBusinessDays(int) -> timestamp", add_business_days,
     "The same time of day so many business days later, Monday to Friday, in UTC.",
     "date(2024, 5, 17).addBusinessDays(1)", "date(2024, 5, 20)"},
    {"timestamp.addBusinessDays(int, map(string, dyn)) -> timestamp", add_business_days,
     "The same time of day so many business days of a calendar later.",
     R"(date(2024, 12, 24).addBusinessDays(1, {"holidays": ["2024-12-25", "12-26"]}))", "date(2024, 12, 27)"},
    {"timestamp.businessDaysBetween(timestamp) -> int", business_days_between,
     "How many business days, Monday to Friday, come after the date of the first up to the date of the second, in UTC.",
     "date(2024, 5, 17).businessDaysBetween(date(2024, 5, 21))", "2"},
    {"timestamp.businessDaysBetween(timestamp, map(string, dyn)) -> int", business_days_between,
     "The same for a calendar.",
     R"(date(2024, 5, 17).businessDaysBetween(date(2024, 5, 21), {"holidays": ["2024-05-20"]}))", "1"},
};

}  // namespace

Library library_dates() { return {"dates", dates_overloads}; }

}  // namespace cairn::expr
