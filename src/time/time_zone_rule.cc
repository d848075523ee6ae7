#include "time/time_zone_rule.h"

#include "base/time.h"

namespace cairn {

namespace {

class RuleText {
 public:
  explicit RuleText(std::string_view text) : text_(text) {}

  std::optional<ZoneRule> read() {
    ZoneRule rule;
    if (!name() || !offset(rule.standard_offset)) return std::nullopt;
    rule.standard_offset = -rule.standard_offset;
    if (at_ == text_.size()) return rule;
    if (!name()) return std::nullopt;
    rule.has_summer = true;
    rule.summer_offset = rule.standard_offset + 3600;
    if (at_ < text_.size() && text_[at_] != ',') {
      if (!offset(rule.summer_offset)) return std::nullopt;
      rule.summer_offset = -rule.summer_offset;
    }
    if (!take(',') || !date(rule.begins) || !take(',') || !date(rule.ends) || at_ != text_.size()) return std::nullopt;
    return rule;
  }

 private:
  bool take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool name() {
    if (take('<')) {
      while (at_ < text_.size() && text_[at_] != '>') ++at_;
      return take('>');
    }
    const std::size_t begin = at_;
    while (at_ < text_.size() && ((text_[at_] >= 'a' && text_[at_] <= 'z') || (text_[at_] >= 'A' && text_[at_] <= 'Z')))
      ++at_;
    return at_ - begin >= 3;
  }

  bool number(std::int32_t& value, std::int32_t limit) {
    const std::size_t begin = at_;
    value = 0;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9' && at_ - begin < 4)
      value = value * 10 + (text_[at_++] - '0');
    return at_ > begin && value <= limit;
  }

  bool offset(std::int32_t& seconds) {
    const bool negative = take('-');
    if (!negative) take('+');
    std::int32_t hours = 0;
    std::int32_t minutes = 0;
    std::int32_t rest = 0;
    if (!number(hours, 167)) return false;
    if (take(':') && !number(minutes, 59)) return false;
    if (take(':') && !number(rest, 59)) return false;
    seconds = hours * 3600 + minutes * 60 + rest;
    if (negative) seconds = -seconds;
    return true;
  }

  bool date(RuleDate& result) {
    if (take('M')) {
      result.form = RuleDate::Form::month_week_day;
      if (!number(result.month, 12) || result.month < 1 || !take('.') || !number(result.week, 5) || result.week < 1 ||
          !take('.') || !number(result.day, 6)) {
        return false;
      }
    } else if (take('J')) {
      result.form = RuleDate::Form::day_without_leap;
      if (!number(result.day, 365) || result.day < 1) return false;
    } else {
      result.form = RuleDate::Form::day_with_leap;
      if (!number(result.day, 365)) return false;
    }
    return !take('/') || offset(result.seconds);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<ZoneRule> parse_zone_rule(std::string_view text) { return RuleText(text).read(); }

std::int64_t RuleDate::at(std::int32_t year) const {
  std::int64_t days = 0;
  switch (form) {
    case Form::month_week_day: {
      const std::int64_t first = days_from_date({year, month, 1});
      // 1970-01-01 was a Thursday.
      const auto first_weekday = static_cast<std::int32_t>(((first + 4) % 7 + 7) % 7);
      std::int32_t of_month = (day - first_weekday + 7) % 7 + (week - 1) * 7;
      while (of_month >= days_in_month(year, month)) of_month -= 7;
      days = first + of_month;
      break;
    }
    case Form::day_without_leap:
      days = days_from_date({year, 1, 1}) + day - 1 + (is_leap_year(year) && day >= 60 ? 1 : 0);
      break;
    case Form::day_with_leap: days = days_from_date({year, 1, 1}) + day; break;
  }
  return days * day_seconds + seconds;
}

std::int32_t ZoneRule::offset_at(std::int64_t utc_seconds) const {
  if (!has_summer) return standard_offset;
  const std::int64_t local = utc_seconds + standard_offset;
  const std::int64_t day = local >= 0 ? local / day_seconds : -((-local + day_seconds - 1) / day_seconds);
  const std::int32_t year = date_from_days(day).year;
  const std::int64_t summer = begins.at(year) - standard_offset;
  const std::int64_t winter = ends.at(year) - summer_offset;
  const bool in_summer =
      summer < winter ? utc_seconds >= summer && utc_seconds < winter : utc_seconds >= summer || utc_seconds < winter;
  return in_summer ? summer_offset : standard_offset;
}

}  // namespace cairn
