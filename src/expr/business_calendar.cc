#include "expr/business_calendar.h"

#include <algorithm>

#include "time/calendar.h"

namespace cairn::expr {

namespace {

constexpr std::array<std::string_view, 7> weekdays{"monday", "tuesday",  "wednesday", "thursday",
                                                   "friday", "saturday", "sunday"};

bool refuse(Context& context, std::string message) {
  context.fail("invalid_argument", "the business calendar: " + std::move(message));
  return false;
}

std::optional<std::int64_t> number_at(std::string_view text, std::size_t at, std::size_t digits) {
  std::int64_t value = 0;
  for (const char c : text.substr(at, digits)) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

// Accepts 2024-12-25, or 12-25 for every year.
bool add_holiday(Context& context, const Value& item, BusinessCalendar& calendar) {
  if (!item.is(Value::Kind::string)) {
    return refuse(context,
                  "a holiday is text like \"2024-12-25\" or \"12-25\", not a " + std::string(describe(item.kind())));
  }
  const std::string_view text = item.as_text();
  if (text.size() == 10 && text[4] == '-' && text[7] == '-') {
    const auto year = number_at(text, 0, 4);
    const auto month = number_at(text, 5, 2);
    const auto day = number_at(text, 8, 2);
    if (year && month && day && is_date(*year, *month, *day)) {
      calendar.holidays.push_back(days_from_date(
          {static_cast<std::int32_t>(*year), static_cast<std::int32_t>(*month), static_cast<std::int32_t>(*day)}));
      return true;
    }
  } else if (text.size() == 5 && text[2] == '-') {
    const auto month = number_at(text, 0, 2);
    const auto day = number_at(text, 3, 2);
    constexpr std::int64_t leap_year = 2000;
    if (month && day && is_date(leap_year, *month, *day)) {
      calendar.yearly_holidays.push_back(static_cast<std::int32_t>(*month * 100 + *day));
      return true;
    }
  }
  return refuse(context, "\"" + std::string(text.substr(0, 40)) + "\" is no date like 2024-12-25 or 12-25");
}

bool add_weekend_day(Context& context, const Value& item, BusinessCalendar& calendar) {
  if (item.is(Value::Kind::string)) {
    const auto it = std::find(weekdays.begin(), weekdays.end(), item.as_text());
    if (it != weekdays.end()) {
      calendar.weekend[static_cast<std::size_t>(it - weekdays.begin()) + 1] = true;
      return true;
    }
  } else if (item.is(Value::Kind::integer) && item.as_integer() >= 1 && item.as_integer() <= 7) {
    calendar.weekend[static_cast<std::size_t>(item.as_integer())] = true;
    return true;
  }
  return refuse(context, "a weekend day is one of monday … sunday, or 1 (Monday) to 7");
}

template <class Add>
bool read_list(Context& context, const Value& list, std::string_view name, Add add) {
  if (!list.is(Value::Kind::list)) return refuse(context, "`" + std::string(name) + "` is a list");
  if (!context.spend_steps(list.size())) return false;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!add(list.item(i))) return false;
  }
  return true;
}

}  // namespace

bool BusinessCalendar::is_business_day(std::int64_t day) const {
  const Date date = date_from_days(day);
  if (weekend[static_cast<std::size_t>(weekday_of(date))]) return false;
  if (std::binary_search(holidays.begin(), holidays.end(), day)) return false;
  return !std::binary_search(yearly_holidays.begin(), yearly_holidays.end(), date.month * 100 + date.day);
}

std::optional<BusinessCalendar> read_business_calendar(Context& context, const Value& map) {
  BusinessCalendar calendar;
  bool has_weekend = false;
  for (std::size_t i = 0; i < map.size(); ++i) {
    const Value key = map.key(i);
    const Value value = map.value(i);
    const std::string_view name = key.is(Value::Kind::string) ? key.as_text() : std::string_view();
    bool good = false;
    if (name == "holidays") {
      good = read_list(context, value, name, [&](const Value& item) { return add_holiday(context, item, calendar); });
    } else if (name == "weekend") {
      has_weekend = true;
      good =
          read_list(context, value, name, [&](const Value& item) { return add_weekend_day(context, item, calendar); });
    } else if (name == "zone") {
      good = value.is(Value::Kind::string) || refuse(context, "`zone` is text");
      if (good) calendar.zone = std::string(value.as_text());
    } else {
      refuse(context, "it has `holidays`, `weekend` and `zone`, not `" + std::string(name.substr(0, 40)) + "`");
    }
    if (!good) return std::nullopt;
  }
  if (!has_weekend) calendar.weekend[6] = calendar.weekend[7] = true;
  if (std::all_of(calendar.weekend.begin() + 1, calendar.weekend.end(), [](bool day) { return day; })) {
    refuse(context, "every day is a weekend");
    return std::nullopt;
  }
  std::sort(calendar.holidays.begin(), calendar.holidays.end());
  std::sort(calendar.yearly_holidays.begin(), calendar.yearly_holidays.end());
  return calendar;
}

}  // namespace cairn::expr
