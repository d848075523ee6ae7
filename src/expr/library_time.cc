// Parts of timestamps and durations with the names of CEL. Zones are IANA names or offsets.
#include "expr/function.h"
#include "time/time_zone.h"

namespace cairn::expr {

namespace {

using Args = std::span<Value>;

struct WallClock {
  Date date;
  std::int64_t day = 0;      // since 1970
  std::int64_t seconds = 0;  // of the day
};

bool read_clock(Context& context, Args args, WallClock& clock) {
  std::int64_t seconds = args[0].as_timestamp().seconds;
  if (args.size() > 1) {
    const auto zone = TimeZone::find(args[1].as_text());
    if (!zone) {
      context.fail("invalid_argument", "`" + std::string(args[1].as_text().substr(0, 64)) +
                                           "` is not a time zone; write Europe/Berlin, UTC or +02:00");
      return false;
    }
    seconds += zone->offset_at(seconds);
  }
  clock.day = seconds >= 0 ? seconds / 86'400 : -((-seconds + 86'399) / 86'400);
  clock.seconds = seconds - clock.day * 86'400;
  clock.date = date_from_days(clock.day);
  return true;
}

template <class Part>
Value part_of(Context& context, Args args, Part part) {
  WallClock clock;
  if (!read_clock(context, args, clock)) return context.error();
  return Value::integer(part(clock));
}

Value full_year(Context& c, Args a) {
  return part_of(c, a, [](const WallClock& w) { return w.date.year; });
}
Value month(Context& c, Args a) {
  return part_of(c, a, [](const WallClock& w) { return w.date.month - 1; });
}
Value date_of_month(Context& c, Args a) {
  return part_of(c, a, [](const WallClock& w) { return w.date.day; });
}
Value day_of_month(Context& c, Args a) {
  return part_of(c, a, [](const WallClock& w) { return w.date.day - 1; });
}
Value day_of_week(Context& c, Args a) {
  return part_of(c, a, [](const WallClock& w) { return ((w.day + 4) % 7 + 7) % 7; });
}
Value day_of_year(Context& c, Args a) {
  return part_of(c, a, [](const WallClock& w) { return w.day - days_from_date({w.date.year, 1, 1}); });
}
Value hours(Context& c, Args a) {
  return part_of(c, a, [](const WallClock& w) { return w.seconds / 3600; });
}
Value minutes(Context& c, Args a) {
  return part_of(c, a, [](const WallClock& w) { return w.seconds / 60 % 60; });
}
Value seconds(Context& c, Args a) {
  return part_of(c, a, [](const WallClock& w) { return w.seconds % 60; });
}
Value milliseconds(Context&, Args a) { return Value::integer(a[0].as_timestamp().nanos / 1'000'000); }

// Whole units, rounded towards zero.
std::int64_t whole_seconds(Duration value) { return value.seconds + (value.seconds < 0 && value.nanos > 0 ? 1 : 0); }
Value duration_hours(Context&, Args a) { return Value::integer(whole_seconds(a[0].as_duration()) / 3600); }
Value duration_minutes(Context&, Args a) { return Value::integer(whole_seconds(a[0].as_duration()) / 60); }
Value duration_seconds(Context&, Args a) { return Value::integer(whole_seconds(a[0].as_duration())); }
Value duration_milliseconds(Context&, Args a) {
  const Duration value = a[0].as_duration();
  const std::int32_t nanos = value.seconds < 0 && value.nanos > 0 ? value.nanos - 1'000'000'000 : value.nanos;
  return Value::integer(nanos / 1'000'000);
}

#define CAIRN_T "timestamp(\"2009-02-13T23:31:30Z\")"
const Overload time_overloads[] = {
    {"timestamp.getFullYear() -> int", full_year, "The year, in UTC.", CAIRN_T ".getFullYear()", "2009"},
    {"timestamp.getFullYear(string) -> int", full_year, "The year, in a zone.", CAIRN_T ".getFullYear(\"UTC\")",
     "2009"},
    {"timestamp.getMonth() -> int", month, "The month from 0, in UTC.", CAIRN_T ".getMonth()", "1"},
    {"timestamp.getMonth(string) -> int", month, "The month from 0, in a zone.", CAIRN_T ".getMonth(\"UTC\")", "1"},
    {"timestamp.getDate() -> int", date_of_month, "The day of the month from 1, in UTC.", CAIRN_T ".getDate()", "13"},
    {"timestamp.getDate(string) -> int", date_of_month, "The day of the month from 1, in a zone.",
     CAIRN_T ".getDate(\"Australia/Sydney\")", "14"},
    {"timestamp.getDayOfMonth() -> int", day_of_month, "The day of the month from 0, in UTC.",
     CAIRN_T ".getDayOfMonth()", "12"},
    {"timestamp.getDayOfMonth(string) -> int", day_of_month, "The day of the month from 0, in a zone.",
     CAIRN_T ".getDayOfMonth(\"UTC\")", "12"},
    {"timestamp.getDayOfWeek() -> int", day_of_week, "The day of the week from Sunday as 0, in UTC.",
     CAIRN_T ".getDayOfWeek()", "5"},
    {"timestamp.getDayOfWeek(string) -> int", day_of_week, "The day of the week from Sunday as 0, in a zone.",
     CAIRN_T ".getDayOfWeek(\"UTC\")", "5"},
    {"timestamp.getDayOfYear() -> int", day_of_year, "The day of the year from 0, in UTC.", CAIRN_T ".getDayOfYear()",
     "43"},
    {"timestamp.getDayOfYear(string) -> int", day_of_year, "The day of the year from 0, in a zone.",
     CAIRN_T ".getDayOfYear(\"UTC\")", "43"},
    {"timestamp.getHours() -> int", hours, "The hour, in UTC.", CAIRN_T ".getHours()", "23"},
    {"timestamp.getHours(string) -> int", hours, "The hour, in a zone.", CAIRN_T ".getHours(\"+02:00\")", "1"},
    {"timestamp.getMinutes() -> int", minutes, "The minute, in UTC.", CAIRN_T ".getMinutes()", "31"},
    {"timestamp.getMinutes(string) -> int", minutes, "The minute, in a zone.",
     CAIRN_T ".getMinutes(\"Asia/Kathmandu\")", "16"},
    {"timestamp.getSeconds() -> int", seconds, "The second, in UTC.", CAIRN_T ".getSeconds()", "30"},
    {"timestamp.getSeconds(string) -> int", seconds, "The second, in a zone.", CAIRN_T ".getSeconds(\"UTC\")", "30"},
    {"timestamp.getMilliseconds() -> int", milliseconds, "The milliseconds of the second.",
     CAIRN_T ".getMilliseconds()", "0"},
    {"timestamp.getMilliseconds(string) -> int", milliseconds, "The milliseconds of the second.",
     CAIRN_T ".getMilliseconds(\"UTC\")", "0"},
    {"duration.getHours() -> int", duration_hours, "Whole hours.", "duration(\"90m\").getHours()", "1"},
    {"duration.getMinutes() -> int", duration_minutes, "Whole minutes.", "duration(\"90m\").getMinutes()", "90"},
    {"duration.getSeconds() -> int", duration_seconds, "Whole seconds.", "duration(\"90m\").getSeconds()", "5400"},
    {"duration.getMilliseconds() -> int", duration_milliseconds, "The milliseconds of the second.",
     "duration(\"1.25s\").getMilliseconds()", "250"},
};
#undef CAIRN_T

}  // namespace

Library library_time() { return {"time", time_overloads}; }

}  // namespace cairn::expr
