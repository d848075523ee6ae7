#include "time/cron.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/ascii.h"

namespace cairn {
namespace {

struct CronField {
  const char* name;
  int min;
  int max;
};
constexpr CronField second_field{"second", 0, 59};
constexpr CronField minute_field{"minute", 0, 59};
constexpr CronField hour_field{"hour", 0, 23};
constexpr CronField day_field{"day of month", 1, 31};
constexpr CronField month_field{"month", 1, 12};
constexpr CronField weekday_field{"day of week", 0, 7};

constexpr std::array<std::string_view, 12> cron_month_names = {"JAN", "FEB", "MAR", "APR", "MAY", "JUN",
                                                               "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};
constexpr std::array<std::string_view, 7> weekday_names = {"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"};

struct Nickname {
  std::string_view name;
  std::string_view meaning;
};
constexpr Nickname nicknames[] = {{"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"},
                                  {"@weekly", "0 0 * * 0"}, {"@daily", "0 0 * * *"},    {"@midnight", "0 0 * * *"},
                                  {"@hourly", "0 * * * *"}};

char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

// A piece of the text and its offset.
struct Piece {
  std::string_view text;
  std::size_t at = 0;
  bool is(std::string_view word) const {
    return text.size() == word.size() &&
           std::equal(text.begin(), text.end(), word.begin(), [](char a, char b) { return upper(a) == b; });
  }
  bool ends_with(char c) const { return !text.empty() && upper(text.back()) == c; }
  Piece without_end(std::size_t count) const { return {text.substr(0, text.size() - count), at}; }
};

CronFault fault(const Piece& piece, const CronField& field, const std::string& what) {
  std::string message("the ");
  message.append(field.name).append(" `").append(piece.text).append("` ").append(what);
  return {piece.at, std::move(message)};
}

std::string range_words(const CronField& field) {
  return std::to_string(field.min) + " to " + std::to_string(field.max);
}

std::vector<Piece> split(const Piece& whole, char separator) {
  std::vector<Piece> pieces;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t end = whole.text.find(separator, begin);
    pieces.push_back({whole.text.substr(begin, end == std::string_view::npos ? end : end - begin), whole.at + begin});
    if (end == std::string_view::npos) return pieces;
    begin = end + 1;
  }
}

// A number or a name within the field's range.
Result<int, CronFault> number(const Piece& piece, const CronField& field) {
  if (piece.text.empty()) return fault(piece, field, "is empty; expected " + range_words(field));
  if (is_letter(piece.text[0])) {
    const bool month = field.name == month_field.name;
    if (month || field.name == weekday_field.name) {
      const std::size_t count = month ? cron_month_names.size() : weekday_names.size();
      for (std::size_t i = 0; i < count; ++i) {
        if (piece.is(month ? cron_month_names[i] : weekday_names[i])) return static_cast<int>(i) + (month ? 1 : 0);
      }
      return fault(piece, field,
                   month ? "is no month; the names are JAN to DEC" : "is no day; the names are SUN to SAT");
    }
    return fault(piece, field, "is no number; expected " + range_words(field));
  }
  int value = 0;
  const auto read = std::from_chars(piece.text.data(), piece.text.data() + piece.text.size(), value);
  if (read.ec != std::errc() || read.ptr != piece.text.data() + piece.text.size() || !is_digit(piece.text[0])) {
    return fault(piece, field, "is no number; expected " + range_words(field));
  }
  if (value < field.min || value > field.max)
    return fault(piece, field, "is out of range; expected " + range_words(field));
  return value;
}

struct Span {
  int first;
  int last;
  int step;
};

// `*`, `5`, `1-5`, each with an optional `/2`.
Result<Span, CronFault> span(const Piece& piece, const CronField& field) {
  const std::vector<Piece> parts = split(piece, '/');
  if (parts.size() > 2) return fault(piece, field, "has more than one `/`");
  Span result{field.min, field.max, 1};
  const Piece& range = parts[0];
  if (range.text != "*") {
    const std::vector<Piece> ends = split(range, '-');
    if (ends.size() > 2) return fault(range, field, "has more than one `-`");
    CAIRN_TRY(result.first, number(ends[0], field));
    // `5/10` starts at 5 and continues to the end of the range.
    result.last = parts.size() == 2 ? field.max : result.first;
    if (ends.size() == 2) {
      CAIRN_TRY(result.last, number(ends[1], field));
      if (result.last < result.first) return fault(range, field, "goes backwards; write two ranges with a comma");
    }
  } else if (field.name == weekday_field.name) {
    result.last = 6;
  }
  if (parts.size() == 2) {
    const CronField steps{field.name, 1, field.max};
    CAIRN_TRY(result.step, number(parts[1], steps));
  }
  return result;
}

template <std::size_t Size>
Result<void, CronFault> set_span(const Piece& piece, const CronField& field, std::bitset<Size>& bits) {
  CAIRN_TRY(const Span range, span(piece, field));
  for (int i = range.first; i <= range.last; i += range.step) bits.set(static_cast<std::size_t>(i) % Size);
  return {};
}

template <std::size_t Size>
Result<void, CronFault> set_list(const Piece& whole, const CronField& field, std::bitset<Size>& bits) {
  for (const Piece& piece : split(whole, ',')) CAIRN_TRY_VOID(set_span(piece, field, bits));
  return {};
}

Result<void, CronFault> set_days(const Piece& whole, Cron& cron) {
  if (whole.text == "*" || whole.text == "?") {
    cron.any_day = true;
    for (std::size_t day = 1; day <= 31; ++day) cron.days.set(day);
    return {};
  }
  for (const Piece& piece : split(whole, ',')) {
    if (piece.is("L")) {
      cron.days_before_last.push_back(0);
    } else if (piece.is("LW") || piece.is("WL")) {
      cron.last_weekday = true;
    } else if (piece.text.size() > 2 && upper(piece.text[0]) == 'L' && piece.text[1] == '-') {
      CAIRN_TRY(const int before, number({piece.text.substr(2), piece.at + 2}, {"day before the last", 1, 30}));
      cron.days_before_last.push_back(before);
    } else if (piece.ends_with('W')) {
      CAIRN_TRY(const int day, number(piece.without_end(1), day_field));
      cron.nearest_weekdays.push_back(day);
    } else {
      CAIRN_TRY_VOID(set_span(piece, day_field, cron.days));
    }
  }
  return {};
}

Result<void, CronFault> set_weekdays(const Piece& whole, Cron& cron) {
  if (whole.text == "*" || whole.text == "?") {
    cron.any_weekday = true;
    cron.weekdays.set();
    return {};
  }
  for (const Piece& piece : split(whole, ',')) {
    if (const std::size_t hash = piece.text.find('#'); hash != std::string_view::npos) {
      CAIRN_TRY(const int weekday, number({piece.text.substr(0, hash), piece.at}, weekday_field));
      CAIRN_TRY(const int nth, number({piece.text.substr(hash + 1), piece.at + hash + 1}, {"week after `#`", 1, 5}));
      cron.weekdays_of_month.push_back({weekday % 7, nth});
    } else if (piece.ends_with('L') && piece.text.size() > 1) {
      CAIRN_TRY(const int weekday, number(piece.without_end(1), weekday_field));
      cron.weekdays_of_month.push_back({weekday % 7, 0});
    } else if (piece.is("L")) {
      cron.weekdays.set(6);
    } else {
      CAIRN_TRY_VOID(set_span(piece, weekday_field, cron.weekdays));
    }
  }
  return {};
}

int weekday_from_sunday(Date date) {
  const std::int64_t days = days_from_date(date) + 4;  // 1970-01-01 was a Thursday
  return static_cast<int>(((days % 7) + 7) % 7);
}

// The weekday (Monday to Friday) nearest to `day` that stays in its month.
int nearest_weekday(Date date, int day, int last) {
  day = std::min(day, last);
  switch (weekday_from_sunday({date.year, date.month, day})) {
    case 6: return day > 1 ? day - 1 : day + 2;
    case 0: return day < last ? day + 1 : day - 2;
    default: return day;
  }
}

// Whether any date matches: 30 February, L-30 in February and 31W in April never do, 29 February does. The calendar
// repeats after 400 years. Nearly every valid expression matches within the first few days.
bool ever_matches(const Cron& cron) {
  static const std::int64_t first = days_from_date({2024, 1, 1});
  constexpr std::int64_t cycle_days = 146'097;
  for (std::int64_t day = first; day < first + cycle_days; ++day) {
    if (cron.matches(date_from_days(day))) return true;
  }
  return false;
}

std::vector<Piece> fields_of(std::string_view text) {
  std::vector<Piece> fields;
  std::size_t at = 0;
  const auto blank = [&] { return text[at] == ' ' || text[at] == '\t'; };
  while (at < text.size()) {
    while (at < text.size() && blank()) ++at;
    const std::size_t begin = at;
    while (at < text.size() && !blank()) ++at;
    if (at > begin) fields.push_back({text.substr(begin, at - begin), begin});
  }
  return fields;
}

}  // namespace

bool Cron::matches(Date date) const {
  if (!months.test(static_cast<std::size_t>(date.month))) return false;
  const int last = days_in_month(date.year, date.month);
  const int weekday = weekday_from_sunday(date);

  bool day = days.test(static_cast<std::size_t>(date.day));
  for (const int before : days_before_last) day = day || date.day == last - before;
  for (const int wanted : nearest_weekdays)
    day = day || (wanted <= last && date.day == nearest_weekday(date, wanted, last));
  if (last_weekday) {
    int final_weekday = last;
    while (weekday_from_sunday({date.year, date.month, final_weekday}) % 6 == 0) --final_weekday;
    day = day || date.day == final_weekday;
  }

  bool week = weekdays.test(static_cast<std::size_t>(weekday));
  for (const WeekdayOfMonth& wanted : weekdays_of_month) {
    const bool nth = wanted.nth == 0 ? date.day + 7 > last : (date.day - 1) / 7 + 1 == wanted.nth;
    week = week || (weekday == wanted.weekday && nth);
  }

  if (any_day || any_weekday) return (any_day || day) && (any_weekday || week);
  return day || week;
}

Result<Cron, CronFault> parse_cron(std::string_view text) {
  std::string_view meaning = text;
  std::vector<Piece> fields = fields_of(text);
  if (fields.size() == 1 && fields[0].text.starts_with('@')) {
    const auto* found = std::find_if(std::begin(nicknames), std::end(nicknames),
                                     [&](const Nickname& nickname) { return nickname.name == fields[0].text; });
    if (found == std::end(nicknames)) {
      std::string message("`");
      message.append(fields[0].text).append("` is not known; there are @hourly, @daily, @weekly, @monthly and @yearly");
      return CronFault{fields[0].at, std::move(message)};
    }
    meaning = found->meaning;
    fields = fields_of(meaning);
  }
  if (fields.size() != 5 && fields.size() != 6) {
    return CronFault{0,
                     "a cron expression has 5 fields (minute, hour, day of month, month, day of week), or 6 with "
                     "seconds before them, not " +
                         std::to_string(fields.size())};
  }
  Cron cron;
  cron.text = text;
  std::size_t next = 0;
  if (fields.size() == 6) {
    CAIRN_TRY_VOID(set_list(fields[next++], second_field, cron.seconds));
  } else {
    cron.seconds.set(0);
  }
  CAIRN_TRY_VOID(set_list(fields[next++], minute_field, cron.minutes));
  CAIRN_TRY_VOID(set_list(fields[next++], hour_field, cron.hours));
  const Piece days = fields[next++];
  CAIRN_TRY_VOID(set_days(days, cron));
  CAIRN_TRY_VOID(set_list(fields[next++], month_field, cron.months));
  CAIRN_TRY_VOID(set_weekdays(fields[next], cron));
  if (!ever_matches(cron)) {
    return CronFault{days.at, "this day never comes in the months given"};
  }
  return cron;
}

}  // namespace cairn
