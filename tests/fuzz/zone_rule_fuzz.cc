// The rule at the end of a tz file on the first line, then an instant: the offset is one of the rule's two.
#include "time/time_zone_rule.h"

#include "base/time.h"
#include "input.h"

void fuzz(std::string_view input) {
  using namespace cairn;
  const auto rule = parse_zone_rule(fuzzing::take_line(input));
  if (!rule) return;
  constexpr std::int64_t range = Timestamp::seconds_max - Timestamp::seconds_min + 1;
  const std::int64_t at = Timestamp::seconds_min + static_cast<std::int64_t>(fuzzing::take_number(input) >> 1) % range;
  const std::int32_t offset = rule->offset_at(at);
  CAIRN_ASSERT(offset == rule->standard_offset || (rule->has_summer && offset == rule->summer_offset));
  CAIRN_ASSERT(std::abs(rule->standard_offset) <= 168 * 3600 && std::abs(rule->summer_offset) <= 169 * 3600);
  if (!rule->has_summer) return;
  const std::int32_t year = date_from_days(at / 86'400).year;
  if (year < 2 || year > 9998) return;
  for (const RuleDate& date : {rule->begins, rule->ends}) {
    const std::int64_t day = (date.at(year) - date.seconds) / 86'400;
    CAIRN_ASSERT(day >= days_from_date({year, 1, 1}) && day <= days_from_date({year + 1, 1, 1}));
  }
}
