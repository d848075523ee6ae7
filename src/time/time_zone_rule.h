// The rule at the end of a tz file, a POSIX TZ text. It applies to the years after the last transition.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace cairn {

// A day of the year and a time of day at which clocks change.
struct RuleDate {
  enum class Form : std::uint8_t { month_week_day, day_without_leap, day_with_leap };
  Form form = Form::month_week_day;
  std::int32_t month = 1;  // month_week_day
  std::int32_t week = 1;   // 5 is the last one
  std::int32_t day = 0;    // day of week from Sunday, or day of year
  std::int32_t seconds = 2 * 3600;

  // Seconds since 1970 on the wall clock of that year.
  std::int64_t at(std::int32_t year) const;
};

struct ZoneRule {
  std::int32_t standard_offset = 0;
  bool has_summer = false;
  std::int32_t summer_offset = 0;
  RuleDate begins;  // of summer time, on the standard wall clock
  RuleDate ends;    // on the summer wall clock

  std::int32_t offset_at(std::int64_t utc_seconds) const;
};

// `CET-1CEST,M3.5.0,M10.5.0/3`.
std::optional<ZoneRule> parse_zone_rule(std::string_view text);

}  // namespace cairn
