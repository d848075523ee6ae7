#include "base/time.h"
#include "schema/characters.h"
#include "schema/formats.h"

namespace cairn::schema {
namespace {

// Two digits at `at`, or -1.
int two_digits(std::string_view text, std::size_t at) {
  if (at + 2 > text.size() || !is_digit(text[at]) || !is_digit(text[at + 1])) return -1;
  return (text[at] - '0') * 10 + (text[at + 1] - '0');
}

bool within(int value, int last) { return value >= 0 && value <= last; }

// Removes `number unit` pairs from the front of `text`. Units must follow `units` without a gap: after hours, minutes
// must come before seconds.
bool take_components(std::string_view& text, std::string_view units) {
  std::size_t next = std::string_view::npos;
  while (!text.empty() && is_digit(text[0])) {
    std::size_t digits = 0;
    while (digits < text.size() && is_digit(text[digits])) ++digits;
    if (digits == text.size()) return false;
    const std::size_t unit = units.find(text[digits]);
    if (unit == std::string_view::npos || (next != std::string_view::npos && unit != next)) return false;
    next = unit + 1;
    text.remove_prefix(digits + 1);
  }
  return next != std::string_view::npos;
}

}  // namespace

bool is_date(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  const int century = two_digits(text, 0);
  const int year = two_digits(text, 2);
  const int month = two_digits(text, 5);
  const int day = two_digits(text, 8);
  if (century < 0 || year < 0 || month < 1 || month > 12 || day < 1) return false;
  return day <= days_in_month(century * 100 + year, month);
}

bool is_time(std::string_view text) {
  const int hour = two_digits(text, 0);
  const int minute = two_digits(text, 3);
  const int second = two_digits(text, 6);
  if (!within(hour, 23) || !within(minute, 59) || !within(second, 60) || text[2] != ':' || text[5] != ':') return false;
  text.remove_prefix(8);
  if (text.starts_with('.')) {
    std::size_t end = 1;
    while (end < text.size() && is_digit(text[end])) ++end;
    if (end == 1) return false;
    text.remove_prefix(end);
  }
  int offset = 0;
  if (text != "Z" && text != "z") {
    if (text.size() != 6 || (text[0] != '+' && text[0] != '-') || text[3] != ':') return false;
    const int hours = two_digits(text, 1);
    const int minutes = two_digits(text, 4);
    if (!within(hours, 23) || !within(minutes, 59)) return false;
    offset = (hours * 60 + minutes) * (text[0] == '-' ? -1 : 1);
  }
  if (second < 60) return true;
  // A leap second is the last one of a UTC day.
  constexpr int day = 24 * 60;
  return (hour * 60 + minute - offset + 2 * day) % day == day - 1;
}

bool is_date_time(std::string_view text) {
  return text.size() > 11 && is_date(text.substr(0, 10)) && (text[10] == 'T' || text[10] == 't') &&
         is_time(text.substr(11));
}

bool is_duration(std::string_view text) {
  if (!text.starts_with('P')) return false;
  text.remove_prefix(1);
  if (text.ends_with('W')) return take_components(text, "W") && text.empty();
  const bool has_date = !text.empty() && text[0] != 'T';
  if (has_date && !take_components(text, "YMD")) return false;
  if (text.empty()) return has_date;
  if (text[0] != 'T') return false;
  text.remove_prefix(1);
  return take_components(text, "HMS") && text.empty();
}

}  // namespace cairn::schema
