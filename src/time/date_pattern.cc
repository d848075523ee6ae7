#include "time/date_pattern.h"

#include <array>
#include <optional>
#include <vector>

#include "base/ascii.h"
#include "time/calendar.h"

namespace cairn {

namespace {

constexpr std::array<std::string_view, 12> month_names{"January",   "February", "March",    "April",
                                                       "May",       "June",     "July",     "August",
                                                       "September", "October",  "November", "December"};
constexpr std::array<std::string_view, 7> day_names{"Monday", "Tuesday",  "Wednesday", "Thursday",
                                                    "Friday", "Saturday", "Sunday"};
constexpr std::size_t pattern_bytes_max = 200;

// A run of one letter, or literal text (letter 0).
struct PatternField {
  char letter = 0;
  std::size_t count = 0;
  std::string text;
};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool known(char letter, std::size_t count) {
  switch (letter) {
    case 'y': return count == 2 || count == 4;
    case 'M': return count <= 4;
    case 'd':
    case 'H':
    case 'h':
    case 'm':
    case 's': return count <= 2;
    case 'E': return count == 3 || count == 4;
    case 'D': return count == 3;
    case 'Q':
    case 'a':
    case 'e': return count == 1;
    case 'Y': return count == 4;
    case 'w': return count == 2;
    case 'S': return count <= 9;
    case 'X':
    case 'x': return count == 2 || count == 3;
    case 'V': return count == 2;
    default: return false;
  }
}

Error bad_pattern(std::string_view pattern, const std::string& why) {
  return {ErrorCode::invalid, "the date pattern \"" + std::string(pattern.substr(0, 60)) + "\" " + why};
}

Result<std::vector<PatternField>> read_pattern(std::string_view pattern) {
  if (pattern.size() > pattern_bytes_max) return bad_pattern(pattern, "is longer than 200 bytes");
  std::vector<PatternField> fields;
  const auto literal = [&](char c) {
    if (fields.empty() || fields.back().letter != 0) fields.push_back({});
    fields.back().text.push_back(c);
  };
  for (std::size_t i = 0; i < pattern.size();) {
    const char c = pattern[i];
    if (c == '\'') {
      if (i + 1 < pattern.size() && pattern[i + 1] == '\'') {
        literal('\'');
        i += 2;
        continue;
      }
      bool closed = false;
      for (++i; i < pattern.size() && !closed; ++i) {
        if (pattern[i] != '\'') {
          literal(pattern[i]);
        } else if (i + 1 < pattern.size() && pattern[i + 1] == '\'') {
          literal('\'');
          ++i;
        } else {
          closed = true;
        }
      }
      if (!closed) return bad_pattern(pattern, "has a ' that is never closed");
      continue;
    }
    if (!is_letter(c)) {
      literal(c);
      ++i;
      continue;
    }
    std::size_t count = 1;
    while (i + count < pattern.size() && pattern[i + count] == c) ++count;
    if (!known(c, count)) {
      return bad_pattern(pattern, "has " + std::string(std::min<std::size_t>(count, 10), c) +
                                      ", which means nothing; put text into '…'");
    }
    fields.push_back({c, count, {}});
    i += count;
  }
  return fields;
}

void append_number(std::int64_t value, std::size_t digits, std::string& out) {
  const std::string text = std::to_string(value);
  if (text.size() < digits) out.append(digits - text.size(), '0');
  out += text;
}

void append_offset(std::int64_t offset, const PatternField& field, std::string& out) {
  if (offset == 0 && field.letter == 'X') {
    out.push_back('Z');
    return;
  }
  // Historical offsets have seconds, which these forms omit.
  const std::int64_t minutes = (offset < 0 ? -offset : offset) / 60;
  out.push_back(offset < 0 ? '-' : '+');
  append_number(minutes / 60, 2, out);
  if (field.count == 3) out.push_back(':');
  append_number(minutes % 60, 2, out);
}

void append_field(const PatternField& field, Timestamp at, const LocalTime& local, const TimeZone& zone,
                  std::string_view zone_name, std::string& out) {
  const Date date = local.date;
  const std::int32_t hour = local.second / 3'600;
  switch (field.letter) {
    case 0: out += field.text; break;
    case 'y': append_number(field.count == 2 ? date.year % 100 : date.year, field.count, out); break;
    case 'M':
      if (field.count <= 2) {
        append_number(date.month, field.count, out);
      } else {
        const std::string_view name = month_names[static_cast<std::size_t>(date.month - 1)];
        out += field.count == 3 ? name.substr(0, 3) : name;
      }
      break;
    case 'E': {
      const std::string_view name = day_names[static_cast<std::size_t>(weekday_of(date) - 1)];
      out += field.count == 3 ? name.substr(0, 3) : name;
      break;
    }
    case 'd': append_number(date.day, field.count, out); break;
    case 'D': append_number(day_of_year(date), field.count, out); break;
    case 'Q': append_number(quarter_of(date), 1, out); break;
    case 'Y': append_number(iso_week_of(date).year, field.count, out); break;
    case 'w': append_number(iso_week_of(date).week, field.count, out); break;
    case 'e': append_number(weekday_of(date), 1, out); break;
    case 'H': append_number(hour, field.count, out); break;
    case 'h': append_number((hour + 11) % 12 + 1, field.count, out); break;
    case 'a': out += hour < 12 ? "AM" : "PM"; break;
    case 'm': append_number(local.second / 60 % 60, field.count, out); break;
    case 's': append_number(local.second % 60, field.count, out); break;
    case 'S': out += std::to_string(1'000'000'000 + local.nanos).substr(1, field.count); break;
    case 'X':
    case 'x': append_offset(zone.offset_at(at.seconds), field, out); break;
    case 'V': out += zone_name; break;
    default: break;
  }
}

// The values parsed so far.
struct Parts {
  std::int64_t year = 0;
  std::int64_t month = 1;
  std::int64_t day = 1;
  std::int64_t hour = 0;
  std::int64_t minute = 0;
  std::int64_t second = 0;
  std::int32_t nanos = 0;
  std::optional<std::int32_t> weekday;
  std::optional<std::int64_t> half_day_hour;
  std::optional<bool> afternoon;
  std::optional<std::int64_t> offset;
  bool has_year = false;
};

std::optional<std::int64_t> take_number(std::string_view& rest, std::size_t least, std::size_t most) {
  std::size_t count = 0;
  std::int64_t value = 0;
  while (count < most && count < rest.size() && is_digit(rest[count])) value = value * 10 + (rest[count++] - '0');
  if (count < least) return std::nullopt;
  rest.remove_prefix(count);
  return value;
}

bool take_text(std::string_view& rest, std::string_view text) {
  if (rest.size() < text.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (lower(rest[i]) != lower(text[i])) return false;
  }
  rest.remove_prefix(text.size());
  return true;
}

template <std::size_t N>
std::optional<std::int32_t> take_name(std::string_view& rest, const std::array<std::string_view, N>& names,
                                      bool brief) {
  for (std::size_t i = 0; i < N; ++i) {
    if (take_text(rest, brief ? names[i].substr(0, 3) : names[i])) return static_cast<std::int32_t>(i + 1);
  }
  return std::nullopt;
}

std::optional<std::int64_t> take_offset(std::string_view& rest, const PatternField& field) {
  if (field.letter == 'X' && rest.starts_with('Z')) {
    rest.remove_prefix(1);
    return 0;
  }
  if (!rest.starts_with('+') && !rest.starts_with('-')) return std::nullopt;
  const std::int64_t sign = rest.front() == '-' ? -1 : 1;
  rest.remove_prefix(1);
  const auto hours = take_number(rest, 2, 2);
  if (!hours || *hours > 18) return std::nullopt;
  if (field.count == 3 && !take_text(rest, ":")) return std::nullopt;
  const auto minutes = take_number(rest, 2, 2);
  if (!minutes || *minutes > 59) return std::nullopt;
  return sign * (*hours * 3'600 + *minutes * 60);
}

// False if the text does not have this field here.
bool take_field(const PatternField& field, std::string_view& rest, Parts& parts) {
  const std::size_t least = field.count;
  const std::size_t most = field.count == 1 ? 2 : field.count;
  const auto number = [&](std::int64_t& into) {
    const auto value = take_number(rest, least, most);
    if (value) into = *value;
    return value.has_value();
  };
  switch (field.letter) {
    case 0:
      if (!rest.starts_with(field.text)) return false;
      rest.remove_prefix(field.text.size());
      return true;
    case 'y':
      parts.has_year = true;
      if (!number(parts.year)) return false;
      if (field.count == 2) parts.year += 2000;
      return true;
    case 'M': {
      if (field.count <= 2) return number(parts.month);
      const auto month = take_name(rest, month_names, field.count == 3);
      if (month) parts.month = *month;
      return month.has_value();
    }
    case 'E': parts.weekday = take_name(rest, day_names, field.count == 3); return parts.weekday.has_value();
    case 'd': return number(parts.day);
    case 'H': return number(parts.hour);
    case 'h': {
      std::int64_t hour = 0;
      if (!number(hour) || hour < 1 || hour > 12) return false;
      parts.half_day_hour = hour;
      return true;
    }
    case 'a': parts.afternoon = take_text(rest, "PM"); return *parts.afternoon || take_text(rest, "AM");
    case 'm': return number(parts.minute);
    case 's': return number(parts.second);
    case 'S': {
      const auto digits = take_number(rest, field.count, field.count);
      if (!digits) return false;
      std::int64_t nanos = *digits;
      for (std::size_t i = field.count; i < 9; ++i) nanos *= 10;
      parts.nanos = static_cast<std::int32_t>(nanos);
      return true;
    }
    case 'X':
    case 'x': parts.offset = take_offset(rest, field); return parts.offset.has_value();
    default: return false;
  }
}

}  // namespace

Result<std::string> format_date(Timestamp at, std::string_view pattern, const TimeZone& zone,
                                std::string_view zone_name) {
  CAIRN_TRY(const std::vector<PatternField> fields, read_pattern(pattern));
  const LocalTime local = to_local(at, zone);
  std::string result;
  for (const PatternField& field : fields) append_field(field, at, local, zone, zone_name, result);
  return result;
}

Result<Timestamp> parse_date(std::string_view text, std::string_view pattern, const TimeZone& zone) {
  CAIRN_TRY(const std::vector<PatternField> fields, read_pattern(pattern));
  const auto refuse = [&](const std::string& why) {
    return Error{ErrorCode::invalid, "\"" + std::string(text.substr(0, 60)) + "\" is not a time of the form \"" +
                                         std::string(pattern) + "\": " + why};
  };
  std::string_view rest = text;
  Parts parts;
  for (const PatternField& field : fields) {
    if (std::string_view("DQYweV").find(field.letter) != std::string_view::npos && field.letter != 0) {
      return bad_pattern(pattern,
                         "has " + std::string(field.count, field.letter) + ", which can be written but not read");
    }
    const std::size_t column = text.size() - rest.size() + 1;
    if (!take_field(field, rest, parts)) {
      const std::string wanted = field.letter == 0 ? "\"" + field.text + "\"" : std::string(field.count, field.letter);
      return refuse("expected " + wanted + " at column " + std::to_string(column));
    }
  }
  if (!rest.empty()) return refuse("\"" + std::string(rest.substr(0, 20)) + "\" is left over");
  if (!parts.has_year) return bad_pattern(pattern, "has no year");
  if (parts.half_day_hour.has_value() != parts.afternoon.has_value())
    return bad_pattern(pattern, "needs h and a together");
  if (parts.half_day_hour) parts.hour = *parts.half_day_hour % 12 + (*parts.afternoon ? 12 : 0);
  if (!is_date(parts.year, parts.month, parts.day)) return refuse("there is no such day");
  if (parts.hour > 23 || parts.minute > 59 || parts.second > 59) return refuse("there is no such time of day");
  const LocalTime local{{static_cast<std::int32_t>(parts.year), static_cast<std::int32_t>(parts.month),
                         static_cast<std::int32_t>(parts.day)},
                        static_cast<std::int32_t>(parts.hour * 3'600 + parts.minute * 60 + parts.second),
                        parts.nanos};
  if (parts.weekday && *parts.weekday != weekday_of(local.date))
    return refuse("that day is not a " + std::string(day_names[static_cast<std::size_t>(*parts.weekday - 1)]));
  std::optional<Timestamp> at;
  if (parts.offset) {
    at = add(Timestamp{days_from_date(local.date) * 86'400 + local.second, local.nanos},
             Duration::of_seconds(-*parts.offset));
  } else {
    at = from_local(local, zone);
  }
  if (!at) return refuse("it is beyond the years 1 to 9999");
  return *at;
}

}  // namespace cairn
