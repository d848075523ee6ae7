// Business days: the days that are neither weekend nor holiday in a zone.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "expr/function.h"

namespace cairn::expr {

struct BusinessCalendar {
  std::array<bool, 8> weekend{};              // by weekday, 1 Monday .. 7 Sunday
  std::vector<std::int64_t> holidays;         // days since 1970, sorted
  std::vector<std::int32_t> yearly_holidays;  // month * 100 + day, sorted
  std::string zone = "UTC";

  bool is_business_day(std::int64_t day) const;
};

// Reads {"holidays": ["2024-12-25", "01-01"], "weekend": ["saturday", "sunday"], "zone": "Europe/Berlin"}; each member
// is optional. Reports a fault and answers empty for an unknown member, an invalid date or weekday, or a weekend of
// seven days.
std::optional<BusinessCalendar> read_business_calendar(Context& context, const Value& map);

}  // namespace cairn::expr
