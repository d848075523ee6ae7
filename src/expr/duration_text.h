// Parses and writes durations as expressions use them.
#pragma once

#include <string>
#include <string_view>

#include "base/time.h"

namespace cairn::expr {

// Accepts 1h30m, 1.5h, -250ms, 3d (units w d h m s ms us ns, with sign and fraction), 0, or ISO 8601 with a sign.
// ErrorCode::limit if it is longer than 10 000 years.
Result<Duration> read_duration(std::string_view text);
// Seconds with as many fraction digits as needed: 60s, 0.25s, -1.5s.
std::string format_seconds(Duration value);

}  // namespace cairn::expr
