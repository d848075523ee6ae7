// Instants and durations, exact to the nanosecond and range-checked: years 1 to 9999, durations up to 10 000 years. UTC
// only; src/time has zones and calendars.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cairn {

inline constexpr std::int64_t day_seconds = 86'400;

// seconds + nanos, with 0 <= nanos < 1e9, so -0.5 s is {-1, 500000000}.
struct Duration {
  std::int64_t seconds = 0;
  std::int32_t nanos = 0;

  static constexpr std::int64_t seconds_max = 315'576'000'000;  // 10 000 years of 365.25 days

  static constexpr Duration of_ms(std::int64_t ms) {
    std::int64_t whole = ms / 1000;
    std::int64_t rest = ms % 1000;
    if (rest < 0) {
      rest += 1000;
      --whole;
    }
    return {whole, static_cast<std::int32_t>(rest * 1'000'000)};
  }
  static constexpr Duration of_seconds(std::int64_t s) { return {s, 0}; }
  bool negative() const { return seconds < 0; }
  bool zero() const { return seconds == 0 && nanos == 0; }
  // Whole milliseconds, rounded up so that a timer never fires early.
  std::int64_t ms_up() const;
  auto operator<=>(const Duration&) const = default;
};

struct Timestamp {
  std::int64_t seconds = 0;  // since 1970-01-01T00:00:00Z, leap seconds not counted
  std::int32_t nanos = 0;

  static constexpr std::int64_t seconds_min = -62'135'596'800;  // 0001-01-01T00:00:00Z
  static constexpr std::int64_t seconds_max = 253'402'300'799;  // 9999-12-31T23:59:59Z

  static constexpr Timestamp of_unix_ms(std::int64_t ms) {
    const Duration since = Duration::of_ms(ms);
    return {since.seconds, since.nanos};
  }
  std::int64_t unix_ms() const { return seconds * 1000 + nanos / 1'000'000; }
  auto operator<=>(const Timestamp&) const = default;
};

// Empty if the result is out of range.
std::optional<Timestamp> add(Timestamp at, Duration by);
std::optional<Duration> add(Duration a, Duration b);
std::optional<Duration> negate(Duration value);
Duration between(Timestamp from, Timestamp to);  // to - from; saturated for times out of range

// RFC 3339, as many fraction digits as needed: 2024-02-02T08:00:00Z.
std::string format_timestamp(Timestamp at);
void write_timestamp(Timestamp at, std::string& out);  // the same, appended
// Accepts any offset and 1 to 9 fraction digits. Leap seconds and impossible dates are rejected.
Result<Timestamp> parse_timestamp(std::string_view text);

// ISO 8601 without weeks and with days of 24 h: P2D, PT1H30M, PT0.25S, PT0S; -PT1S if negative.
std::string format_duration(Duration value);
// The short form that people write: 2d, 1h30m, 250ms. Durations without an exact short form are written as ISO 8601.
std::string format_duration_short(Duration value);
// Accepts both forms: `1h30m` (integer and unit ms s m h d w, largest first) and `P[nW][nD][T[nH][nM][n[.fff]S]]`. A
// unit is required. Negative values, years and months are rejected.
Result<Duration> parse_duration(std::string_view text);

// Days since 1970-01-01 of a proleptic Gregorian date, and back.
struct Date {
  std::int32_t year = 1970;
  std::int32_t month = 1;  // 1..12
  std::int32_t day = 1;    // 1..31
  auto operator<=>(const Date&) const = default;
};
std::int64_t days_from_date(Date date);
Date date_from_days(std::int64_t days);
bool is_leap_year(std::int32_t year);
std::int32_t days_in_month(std::int32_t year, std::int32_t month);

}  // namespace cairn
