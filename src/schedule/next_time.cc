#include "schedule/next_time.h"

#include <algorithm>

#include "base/sha256.h"
#include "time/calendar.h"

namespace cairn {
namespace {

constexpr std::int64_t days_searched_max = 36'525;  // the rarest date (a fifth Friday in February) takes 40 years
constexpr Duration grace = Duration::of_seconds(60);
constexpr Duration instant_before = Duration::of_ms(1);

Timestamp plus(Timestamp at, Duration by) {
  return add(at, by).value_or(Timestamp{Timestamp::seconds_max, 999'000'000});
}
Timestamp minus(Timestamp at, Duration by) {
  const auto back = negate(by);
  const auto result = back ? add(at, *back) : std::nullopt;
  return result.value_or(Timestamp{Timestamp::seconds_min, 0});
}

template <std::size_t Size>
std::optional<std::int32_t> first_from(const std::bitset<Size>& bits, std::int32_t from) {
  for (std::size_t i = static_cast<std::size_t>(from); i < Size; ++i) {
    if (bits.test(i)) return static_cast<std::int32_t>(i);
  }
  return std::nullopt;
}

// The first matching second of a day that is not before `from`.
std::optional<std::int32_t> second_of_day(const Cron& cron, std::int32_t from) {
  std::int32_t minute_from = from / 60 % 60;
  std::int32_t second_from = from % 60;
  for (auto hour = first_from(cron.hours, from / 3600); hour; hour = first_from(cron.hours, *hour + 1)) {
    if (*hour > from / 3600) minute_from = second_from = 0;
    for (auto minute = first_from(cron.minutes, minute_from); minute; minute = first_from(cron.minutes, *minute + 1)) {
      if (*minute > minute_from) second_from = 0;
      if (const auto second = first_from(cron.seconds, second_from)) return *hour * 3600 + *minute * 60 + *second;
      second_from = 0;
    }
    minute_from = second_from = 0;
  }
  return std::nullopt;
}

std::optional<Timestamp> next_reading(const Cron& cron, const TimeZone& zone, Timestamp after) {
  const LocalTime wall = to_local(after, zone);
  const std::int64_t first_day = days_from_date(wall.date);
  std::int32_t from = wall.second + 1;
  static const std::int64_t last_day = days_from_date({9999, 12, 31});
  for (std::int64_t day = first_day; day <= std::min(first_day + days_searched_max, last_day); ++day, from = 0) {
    const Date date = date_from_days(day);
    if (!cron.matches(date)) continue;
    while (from < 86'400) {
      const auto second = second_of_day(cron, from);
      if (!second) break;
      const auto at = from_local({date, *second, 0}, zone);
      if (!at) return std::nullopt;
      // In the second pass of a repeated hour every time has already fired.
      if (*at > after) return at;
      from = *second + 1;
    }
  }
  return std::nullopt;
}

std::optional<Timestamp> next_multiple(Timestamp from, Duration every, Timestamp after) {
  if (after < from) return from;
  const std::int64_t period = every.ms_up();
  const std::int64_t rounds = (after.unix_ms() - from.unix_ms()) / period + 1;
  return add(from, Duration::of_ms(rounds * period));
}

}  // namespace

std::optional<Timestamp> next_time(const Schedule& schedule, Timestamp after) {
  std::optional<Timestamp> next;
  if (schedule.cron) {
    if (schedule.from && after < *schedule.from) after = minus(*schedule.from, instant_before);
    next = next_reading(*schedule.cron, schedule.zone, after);
  } else if (schedule.every && schedule.from) {
    next = next_multiple(*schedule.from, *schedule.every, after);
  }
  if (next && schedule.until && *next > *schedule.until) return std::nullopt;
  return next;
}

std::vector<Timestamp> next_times(const Schedule& schedule, Timestamp after, std::size_t count) {
  std::vector<Timestamp> times;
  while (times.size() < count) {
    const auto next = next_time(schedule, after);
    if (!next) break;
    times.push_back(*next);
    after = *next;
  }
  return times;
}

Timestamp with_jitter(const Schedule& schedule, std::string_view name, Timestamp at) {
  std::int64_t range = schedule.jitter.ms_up();
  if (range <= 0) return at;
  if (const auto next = next_time(schedule, at)) range = std::min(range, next->unix_ms() - at.unix_ms() - 1);
  if (range <= 0) return at;
  const auto hash = sha256(firing_id(name, at));
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 8; ++i) number = number << 8 | hash[i];
  return plus(at, Duration::of_ms(static_cast<std::int64_t>(number % static_cast<std::uint64_t>(range + 1))));
}

Due due_time(const Schedule& schedule, std::string_view name, Timestamp handled_until, Timestamp now) {
  const auto when = [&](Timestamp at) { return with_jitter(schedule, name, at); };
  const auto after = [&](Timestamp last, std::optional<Timestamp> fire) {
    const auto next = next_time(schedule, last);
    return Due{fire, last, next ? std::optional(when(*next)) : std::nullopt};
  };
  const auto first = next_time(schedule, handled_until);
  if (!first || when(*first) > now) return after(handled_until, std::nullopt);
  if (when(*first) >= minus(now, schedule.catch_up)) return after(*first, first);

  // Older than a minute: fire the oldest time inside the catch-up window.
  if (!schedule.catch_up.zero()) {
    const Timestamp window = minus(minus(minus(now, schedule.catch_up), schedule.jitter), instant_before);
    auto candidate = next_time(schedule, std::max(*first, window));
    while (candidate && *candidate <= now && when(*candidate) < minus(now, schedule.catch_up)) {
      candidate = next_time(schedule, *candidate);
    }
    if (candidate && when(*candidate) <= now) return after(*candidate, candidate);
  }
  std::optional<Timestamp> late;
  Timestamp last = minus(minus(minus(now, grace), schedule.jitter), instant_before);
  if (last < handled_until) last = handled_until;
  for (auto candidate = next_time(schedule, last); candidate && *candidate <= now;
       candidate = next_time(schedule, *candidate)) {
    if (when(*candidate) > now) break;
    last = *candidate;
    if (when(*candidate) >= minus(now, grace)) late = candidate;
  }
  return after(late ? *late : last, late);
}

}  // namespace cairn
