// Any text as a cron expression: faults point into the text. Expressions of numbers, ranges, lists and steps alone mean
// what a second, plain reading of the fields says.
#include "time/cron.h"

#include <charconv>
#include <optional>
#include <set>

#include "input.h"

namespace {

using Values = std::set<int>;

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find_first_of(separators, begin);
    parts.push_back(text.substr(begin, end == std::string_view::npos ? end : end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

std::optional<int> number(std::string_view text, int least, int most) {
  int value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = read.ec == std::errc() && read.ptr == text.data() + text.size() && text.front() != '-';
  return whole && value >= least && value <= most ? std::optional(value) : std::nullopt;
}

std::optional<Values> values(std::string_view field, int least, int most) {
  Values all;
  for (const std::string_view item : split(field, ",")) {
    const auto parts = split(item, "/");
    if (parts.size() > 2) return std::nullopt;
    const auto ends = split(parts[0], "-");
    if (ends.size() > 2) return std::nullopt;
    int first = least;
    int last = most == 7 ? 6 : most;
    if (parts[0] != "*") {
      const auto from = ends[0].empty() ? std::nullopt : number(ends[0], least, most);
      const auto to = ends.size() == 1 ? from : ends[1].empty() ? std::nullopt : number(ends[1], least, most);
      if (!from || !to || *to < *from) return std::nullopt;
      first = *from;
      last = ends.size() == 1 && parts.size() == 2 ? most : *to;
    }
    const auto step = parts.size() == 1  ? std::optional(1)
                      : parts[1].empty() ? std::nullopt
                                         : number(parts[1], 1, most);
    if (!step) return std::nullopt;
    for (int value = first; value <= last; value += *step) all.insert(most == 7 ? value % 7 : value);
  }
  return all;
}

template <std::size_t Size>
void same(const std::bitset<Size>& bits, const Values& expected) {
  for (std::size_t i = 0; i < Size; ++i) CAIRN_ASSERT(bits.test(i) == expected.contains(static_cast<int>(i)));
}

}  // namespace

void fuzz(std::string_view text) {
  const auto cron = cairn::parse_cron(text);
  if (!cron) {
    CAIRN_ASSERT(cron.error().offset <= text.size() && !cron.error().message.empty());
  } else {
    CAIRN_ASSERT(cron->text == text && cron->seconds.any() && cron->minutes.any() && cron->hours.any());
  }
  if (text.find_first_not_of("0123456789*,-/ ") != std::string_view::npos) return;
  std::vector<std::string_view> fields;
  for (const std::string_view field : split(text, " ")) {
    if (!field.empty()) fields.push_back(field);
  }
  CAIRN_ASSERT(!cron || fields.size() == 5 || fields.size() == 6);
  if (fields.size() == 5) fields.insert(fields.begin(), "0");
  if (fields.size() != 6) return;
  constexpr std::pair<int, int> ranges[] = {{0, 59}, {0, 59}, {0, 23}, {1, 31}, {1, 12}, {0, 7}};
  std::vector<Values> expected;
  for (std::size_t i = 0; i < 6; ++i) {
    const auto read = values(fields[i], ranges[i].first, ranges[i].second);
    if (!read) {
      CAIRN_ASSERT(!cron);
      return;
    }
    expected.push_back(*read);
  }
  const bool any_day = fields[3] == "*";
  const bool any_weekday = fields[5] == "*";
  const auto matches = [&](cairn::Date date) {
    const int weekday = static_cast<int>((cairn::days_from_date(date) + 4) % 7);
    const bool day = expected[3].contains(date.day);
    const bool week = expected[5].contains(weekday);
    return expected[4].contains(date.month) && (any_day || any_weekday ? day && week : day || week);
  };
  if (!cron) {
    // The only reason left: the day never comes. The years 2000 to 2027 have every date on every weekday.
    for (std::int64_t day = 10'957; day < 10'957 + 10'228; day += 1) CAIRN_ASSERT(!matches(cairn::date_from_days(day)));
    return;
  }
  same(cron->seconds, expected[0]);
  same(cron->minutes, expected[1]);
  same(cron->hours, expected[2]);
  same(cron->months, expected[4]);
  for (std::int64_t day = 19'000; day < 19'100; ++day) {
    CAIRN_ASSERT(cron->matches(cairn::date_from_days(day)) == matches(cairn::date_from_days(day)));
  }
}
