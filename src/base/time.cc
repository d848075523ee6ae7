#include "base/time.h"

#include <array>
#include <charconv>
#include <limits>

#include "base/ascii.h"

namespace cairn {
namespace {

constexpr std::int64_t nanos_per_second = 1'000'000'000;
constexpr std::int64_t seconds_per_day = 86'400;

// ".5" for 500000000, "" for 0.
std::string fraction(std::int32_t nanos) {
  if (nanos == 0) return {};
  std::string digits = std::to_string(nanos + static_cast<std::int32_t>(nanos_per_second)).substr(1);
  digits.erase(digits.find_last_not_of('0') + 1);
  return "." + digits;
}

std::optional<Duration> in_range(__int128 nanos) {
  std::int64_t rest = static_cast<std::int64_t>(nanos % nanos_per_second);
  __int128 whole = nanos / nanos_per_second;
  if (rest < 0) {
    rest += nanos_per_second;
    --whole;
  }
  if (whole < -Duration::seconds_max || whole > Duration::seconds_max) return std::nullopt;
  return Duration{static_cast<std::int64_t>(whole), static_cast<std::int32_t>(rest)};
}

__int128 in_nanos(std::int64_t seconds, std::int32_t nanos) {
  return static_cast<__int128>(seconds) * nanos_per_second + nanos;
}

Error bad_duration(std::string_view text, const std::string& why) {
  return {ErrorCode::invalid, "\"" + std::string(text.substr(0, 60)) + "\" is not a duration: " + why};
}

struct Unit {
  std::string_view name;
  std::int64_t nanos;
};
constexpr std::array<Unit, 6> short_units{{{"w", 7 * seconds_per_day* nanos_per_second},
                                           {"d", seconds_per_day* nanos_per_second},
                                           {"h", 3600 * nanos_per_second},
                                           {"m", 60 * nanos_per_second},
                                           {"s", nanos_per_second},
                                           {"ms", 1'000'000}}};

// Removes the leading digits from `rest` and answers them.
std::optional<std::int64_t> take_number(std::string_view& rest) {
  std::int64_t value = 0;
  const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (rest.empty() || !is_digit(rest.front()) || read.ec != std::errc()) return std::nullopt;
  rest.remove_prefix(static_cast<std::size_t>(read.ptr - rest.data()));
  return value;
}

Result<Duration> parse_short(std::string_view text) {
  std::string_view rest = text;
  __int128 total = 0;
  std::size_t next_unit = 0;
  while (!rest.empty()) {
    const auto value = take_number(rest);
    if (!value) return bad_duration(text, "expected a whole number and a unit (ms, s, m, h, d, w), like 1h30m");
    std::size_t length = 0;
    while (length < rest.size() && !is_digit(rest[length])) ++length;
    const std::string_view name = rest.substr(0, length);
    rest.remove_prefix(length);
    if (name.empty()) return bad_duration(text, "it has no unit; write " + std::to_string(*value) + "s for seconds");
    std::size_t unit = 0;
    while (unit < short_units.size() && short_units[unit].name != name) ++unit;
    if (unit == short_units.size()) {
      return bad_duration(text,
                          "unknown unit \"" + std::string(name.substr(0, 20)) + "\"; the units are ms, s, m, h, d, w");
    }
    if (unit < next_unit) return bad_duration(text, "each unit may occur once, the largest first");
    next_unit = unit + 1;
    total += static_cast<__int128>(*value) * short_units[unit].nanos;
  }
  const auto result = in_range(total);
  if (!result) return bad_duration(text, "it is longer than 10000 years");
  return *result;
}

Result<Duration> parse_iso(std::string_view text) {
  std::string_view rest = text.substr(1);
  __int128 total = 0;
  bool in_time = false;
  bool any = false;
  std::size_t next_unit = 0;
  // The order of this list is the order that ISO 8601 requires.
  constexpr std::string_view letters = "WDHMS";
  while (!rest.empty()) {
    if (rest.front() == 'T') {
      if (in_time || rest.size() == 1) return bad_duration(text, "`T` occurs once, before hours, minutes or seconds");
      in_time = true;
      rest.remove_prefix(1);
      continue;
    }
    const auto value = take_number(rest);
    if (!value) return bad_duration(text, "expected a number; the form is P[nW][nD][T[nH][nM][n[.fff]S]]");
    std::int64_t nanos = 0;
    bool fractional = false;
    if (!rest.empty() && (rest.front() == '.' || rest.front() == ',')) {
      fractional = true;
      rest.remove_prefix(1);
      std::int64_t scale = nanos_per_second;
      std::size_t digits = 0;
      while (!rest.empty() && is_digit(rest.front())) {
        if (++digits > 9) return bad_duration(text, "at most 9 digits after the point");
        scale /= 10;
        nanos += (rest.front() - '0') * scale;
        rest.remove_prefix(1);
      }
      if (digits == 0) return bad_duration(text, "expected digits after the point");
    }
    if (rest.empty()) return bad_duration(text, "it ends without a unit");
    const char letter = rest.front();
    rest.remove_prefix(1);
    if (letter == 'Y' || (letter == 'M' && !in_time)) {
      return bad_duration(text, "years and months have no fixed length; use `wait: {until: ...}` with a computed time");
    }
    const std::size_t unit = letters.find(letter);
    if (unit == std::string_view::npos || (unit >= 2) != in_time) {
      return bad_duration(
          text, std::string("`") + letter + "` does not stand here; the form is P[nW][nD][T[nH][nM][n[.fff]S]]");
    }
    if (unit < next_unit) return bad_duration(text, "each unit may occur once, the largest first");
    if (fractional && letter != 'S') return bad_duration(text, "only seconds may have a fraction");
    next_unit = unit + 1;
    any = true;
    total += static_cast<__int128>(*value) * short_units[unit].nanos + nanos;
  }
  if (!any) return bad_duration(text, "it has no number");
  const auto result = in_range(total);
  if (!result) return bad_duration(text, "it is longer than 10000 years");
  return *result;
}

Error bad_time(std::string_view text, const std::string& why) {
  return {ErrorCode::invalid, "\"" + std::string(text.substr(0, 60)) + "\" is not an RFC 3339 time: " + why};
}

}  // namespace

std::int64_t Duration::ms_up() const { return seconds * 1000 + (nanos + 999'999) / 1'000'000; }

std::optional<Timestamp> add(Timestamp at, Duration by) {
  std::int64_t whole = at.seconds + by.seconds;  // both are far from the ends of int64
  std::int64_t rest = std::int64_t{at.nanos} + by.nanos;
  if (rest >= nanos_per_second) {
    rest -= nanos_per_second;
    ++whole;
  }
  if (whole < Timestamp::seconds_min || whole > Timestamp::seconds_max) return std::nullopt;
  return Timestamp{whole, static_cast<std::int32_t>(rest)};
}

std::optional<Duration> add(Duration a, Duration b) {
  return in_range(in_nanos(a.seconds, a.nanos) + in_nanos(b.seconds, b.nanos));
}

std::optional<Duration> negate(Duration value) { return in_range(-in_nanos(value.seconds, value.nanos)); }

Duration between(Timestamp from, Timestamp to) {
  const auto difference = in_range(in_nanos(to.seconds, to.nanos) - in_nanos(from.seconds, from.nanos));
  // Only if one of them is not a valid time.
  if (!difference) return Duration::of_seconds(to < from ? -Duration::seconds_max : Duration::seconds_max);
  return *difference;
}

void write_timestamp(Timestamp at, std::string& out) {
  std::int64_t days = at.seconds / seconds_per_day;
  std::int64_t rest = at.seconds % seconds_per_day;
  if (rest < 0) {
    rest += seconds_per_day;
    --days;
  }
  const Date date = date_from_days(days);
  const std::string year = std::to_string(date.year);
  out.append(year.size() < 4 ? 4 - year.size() : 0, '0').append(year);
  // Everything after the year is appended at once, because appending byte by byte takes most of the time.
  char rest_of_it[27];
  char* to = rest_of_it;
  const auto add = [&to](char before, std::int64_t value) {
    *to++ = before;
    *to++ = static_cast<char>('0' + value / 10);
    *to++ = static_cast<char>('0' + value % 10);
  };
  add('-', date.month);
  add('-', date.day);
  add('T', rest / 3600);
  add(':', rest / 60 % 60);
  add(':', rest % 60);
  if (at.nanos != 0) {
    *to++ = '.';
    std::int32_t left = at.nanos;
    for (std::int32_t unit = static_cast<std::int32_t>(nanos_per_second) / 10; left != 0; unit /= 10) {
      *to++ = static_cast<char>('0' + left / unit);
      left %= unit;
    }
  }
  *to++ = 'Z';
  out.append(rest_of_it, to);
}

std::string format_timestamp(Timestamp at) {
  std::string text;
  text.reserve(32);
  write_timestamp(at, text);
  return text;
}

Result<Timestamp> parse_timestamp(std::string_view text) {
  const std::string_view form = "0000-00-00T00:00:00";
  if (text.size() < form.size() + 1) return bad_time(text, "expected a form like 2024-02-02T08:00:00Z");
  for (std::size_t i = 0; i < form.size(); ++i) {
    const bool fits = form[i] == '0'   ? is_digit(text[i])
                      : form[i] == 'T' ? text[i] == 'T' || text[i] == 't'
                                       : text[i] == form[i];
    if (!fits) return bad_time(text, "expected a form like 2024-02-02T08:00:00Z");
  }
  const auto number = [text](std::size_t from, std::size_t count) {
    std::int32_t value = 0;
    for (std::size_t i = from; i < from + count; ++i) value = value * 10 + (text[i] - '0');
    return value;
  };
  const Date date{number(0, 4), number(5, 2), number(8, 2)};
  const std::int32_t hour = number(11, 2);
  const std::int32_t minute = number(14, 2);
  const std::int32_t second = number(17, 2);
  if (date.year < 1 || date.month < 1 || date.month > 12 || date.day < 1 ||
      date.day > days_in_month(date.year, date.month)) {
    return bad_time(text, "there is no such day");
  }
  if (hour > 23 || minute > 59 || second > 59) return bad_time(text, "there is no such time of day");
  std::string_view rest = text.substr(form.size());
  std::int32_t nanos = 0;
  if (rest.front() == '.') {
    rest.remove_prefix(1);
    std::int32_t scale = static_cast<std::int32_t>(nanos_per_second);
    std::size_t digits = 0;
    while (!rest.empty() && is_digit(rest.front())) {
      if (++digits > 9) return bad_time(text, "at most 9 digits after the point");
      scale /= 10;
      nanos += (rest.front() - '0') * scale;
      rest.remove_prefix(1);
    }
    if (digits == 0) return bad_time(text, "expected digits after the point");
  }
  std::int64_t offset = 0;
  if (rest == "Z" || rest == "z") {
    offset = 0;
  } else if (rest.size() == 6 && (rest[0] == '+' || rest[0] == '-') && is_digit(rest[1]) && is_digit(rest[2]) &&
             rest[3] == ':' && is_digit(rest[4]) && is_digit(rest[5])) {
    const int hours = (rest[1] - '0') * 10 + (rest[2] - '0');
    const int minutes = (rest[4] - '0') * 10 + (rest[5] - '0');
    if (hours > 23 || minutes > 59) return bad_time(text, "there is no such offset");
    offset = (hours * 3600 + minutes * 60) * (rest[0] == '-' ? -1 : 1);
  } else {
    return bad_time(text, "it must end with Z or an offset like +02:00");
  }
  const std::int64_t seconds = days_from_date(date) * seconds_per_day + hour * 3600 + minute * 60 + second - offset;
  if (seconds < Timestamp::seconds_min || seconds > Timestamp::seconds_max) {
    return bad_time(text, "times go from year 1 to year 9999");
  }
  return Timestamp{seconds, nanos};
}

std::string format_duration(Duration value) {
  if (value.zero()) return "PT0S";
  if (value.negative()) return "-" + format_duration(*negate(value));
  std::string out = "P";
  const std::int64_t days = value.seconds / seconds_per_day;
  const std::int64_t rest = value.seconds % seconds_per_day;
  if (days > 0) out += std::to_string(days) + "D";
  if (rest > 0 || value.nanos > 0) out += "T";
  if (rest >= 3600) out += std::to_string(rest / 3600) + "H";
  if (rest / 60 % 60 > 0) out += std::to_string(rest / 60 % 60) + "M";
  if (rest % 60 > 0 || value.nanos > 0) out += std::to_string(rest % 60) + fraction(value.nanos) + "S";
  return out;
}

std::string format_duration_short(Duration value) {
  if (value.zero()) return "0s";
  if (value.negative() || value.nanos % 1'000'000 != 0) return format_duration(value);
  std::string out;
  __int128 rest = in_nanos(value.seconds, value.nanos);
  for (const Unit& unit : short_units) {
    if (unit.name == "w") continue;
    const auto count = static_cast<std::int64_t>(rest / unit.nanos);
    if (count > 0) out += std::to_string(count) + std::string(unit.name);
    rest %= unit.nanos;
  }
  return out;
}

Result<Duration> parse_duration(std::string_view text) {
  if (text.empty()) return bad_duration(text, "it is empty");
  if (text.front() == '-') return bad_duration(text, "a duration is never negative");
  return text.front() == 'P' ? parse_iso(text) : parse_short(text);
}

bool is_leap_year(std::int32_t year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

std::int32_t days_in_month(std::int32_t year, std::int32_t month) {
  constexpr std::array<std::int32_t, 12> days{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && is_leap_year(year) ? 29 : days[static_cast<std::size_t>(month - 1)];
}

// Counts from 0000-03-01, so that the leap day is the last day of its year.
std::int64_t days_from_date(Date date) {
  const std::int64_t year = date.month <= 2 ? date.year - 1 : date.year;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const std::int64_t year_of_era = year - era * 400;
  const std::int64_t day_of_year = (153 * (date.month + (date.month > 2 ? -3 : 9)) + 2) / 5 + date.day - 1;
  const std::int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146'097 + day_of_era - 719'468;
}

Date date_from_days(std::int64_t days) {
  days += 719'468;
  const std::int64_t era = (days >= 0 ? days : days - 146'096) / 146'097;
  const std::int64_t day_of_era = days - era * 146'097;
  const std::int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const std::int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t shifted_month = (5 * day_of_year + 2) / 153;
  const auto month = static_cast<std::int32_t>(shifted_month < 10 ? shifted_month + 3 : shifted_month - 9);
  return {static_cast<std::int32_t>(year_of_era + era * 400 + (month <= 2 ? 1 : 0)), month,
          static_cast<std::int32_t>(day_of_year - (153 * shifted_month + 2) / 5 + 1)};
}

}  // namespace cairn
