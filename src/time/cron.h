// Cron expressions: five fields (minute, hour, day of month, month, day of week), six with seconds before them, or a
// name such as @daily. The parsed form answers which minutes match.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace cairn {

// The longest `catch_up` and `jitter` of a schedule.
inline constexpr Duration schedule_length_max = Duration::of_seconds(366LL * 86'400);

// What is wrong with a cron expression, and where in its text.
struct CronFault {
  std::size_t offset = 0;
  std::string message;
};

// A day matches if the month, the day of month and the day of week match. If neither day field is `*` or `?`, one match
// of the two is enough, as in every cron.
struct Cron {
  std::string text;
  std::bitset<60> seconds;  // only second 0 when the text has five fields
  std::bitset<60> minutes;
  std::bitset<24> hours;
  std::bitset<32> days;     // of the month, 1..31
  std::bitset<13> months;   // 1..12
  std::bitset<7> weekdays;  // 0 is Sunday

  // L and L-3: that many days before the last day of the month. 15W: the weekday nearest to the 15th. LW: the last
  // weekday.
  std::vector<int> days_before_last;
  std::vector<int> nearest_weekdays;
  bool last_weekday = false;

  // 5#3: the third Friday. 5L: the last Friday.
  struct WeekdayOfMonth {
    int weekday = 0;
    int nth = 0;  // 1..5; 0: the last
  };
  std::vector<WeekdayOfMonth> weekdays_of_month;

  bool any_day = false;      // the day of month is `*` or `?`
  bool any_weekday = false;  // the day of week is `*` or `?`

  // Whether the expression fires on this date.
  bool matches(Date date) const;
};

// Accepts names of months and weekdays (JAN, MON) in any case, lists, ranges, steps, `?`, L, W and # as above; 7 is
// Sunday too. Rejects dates that never occur, such as 30 February or 31W in April.
Result<Cron, CronFault> parse_cron(std::string_view text);

}  // namespace cairn
