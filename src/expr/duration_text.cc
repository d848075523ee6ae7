#include "expr/duration_text.h"

#include "expr/operators.h"

namespace cairn::expr {

namespace {

struct Unit {
  std::string_view name;
  std::int64_t nanos;
};
// A longer name comes before its prefix.
constexpr Unit units[] = {
    {"ns", 1},
    {"us", 1'000},
    {"\xC2\xB5s", 1'000},
    {"\xCE\xBCs", 1'000},
    {"ms", 1'000'000},
    {"s", 1'000'000'000},
    {"m", 60'000'000'000},
    {"h", 3'600'000'000'000},
    {"d", 86'400'000'000'000},
    {"w", 604'800'000'000'000},
};
constexpr __int128 nanos_per_second = 1'000'000'000;

Error wrong(std::string_view text) {
  return {ErrorCode::invalid,
          "`" + std::string(text.substr(0, 64)) + "` is not a duration; write 1h30m, 250ms, 3d or PT1H30M"};
}
Error duration_too_long() { return {ErrorCode::limit, "the duration is longer than 10000 years"}; }

}  // namespace

Result<Duration> read_duration(std::string_view text) {
  std::string_view rest = text;
  bool negative = false;
  if (rest.starts_with('-') || rest.starts_with('+')) {
    negative = rest[0] == '-';
    rest.remove_prefix(1);
  }
  __int128 total = 0;
  if (rest.starts_with('P')) {
    CAIRN_TRY(const Duration value, parse_duration(rest));
    total = value.seconds * nanos_per_second + value.nanos;
  } else if (rest != "0") {
    if (rest.empty() || rest.size() > 128) return wrong(text);
    while (!rest.empty()) {
      __int128 whole = 0;
      std::size_t digits = 0;
      while (digits < rest.size() && rest[digits] >= '0' && rest[digits] <= '9') {
        whole = whole * 10 + (rest[digits] - '0');
        if (whole > __int128{1} << 80) return duration_too_long();
        ++digits;
      }
      std::size_t used = digits;
      __int128 fraction = 0;
      __int128 scale = 1;
      if (used < rest.size() && rest[used] == '.') {
        ++used;
        const std::size_t point = used;
        while (used < rest.size() && rest[used] >= '0' && rest[used] <= '9') {
          // Digits beyond a thousandth of a nanosecond of a week have no effect.
          if (used - point < 18) {
            fraction = fraction * 10 + (rest[used] - '0');
            scale *= 10;
          }
          ++used;
        }
        if (used == point) return wrong(text);
        if (digits == 0) digits = used - point;
      }
      if (digits == 0) return wrong(text);
      rest.remove_prefix(used);
      const Unit* found = nullptr;
      for (const Unit& unit : units) {
        if (rest.starts_with(unit.name) && (!found || unit.name.size() > found->name.size())) found = &unit;
      }
      if (!found) return wrong(text);
      rest.remove_prefix(found->name.size());
      total += whole * found->nanos + fraction * found->nanos / scale;
      if (total > duration_seconds_max * nanos_per_second) return duration_too_long();
    }
  }
  if (total > duration_seconds_max * nanos_per_second) return duration_too_long();
  if (negative) total = -total;
  __int128 seconds = total / nanos_per_second;
  __int128 nanos = total % nanos_per_second;
  if (nanos < 0) {
    nanos += nanos_per_second;
    --seconds;
  }
  return Duration{static_cast<std::int64_t>(seconds), static_cast<std::int32_t>(nanos)};
}

std::string format_seconds(Duration value) {
  std::string out;
  std::uint64_t seconds = 0;
  std::int32_t nanos = value.nanos;
  if (value.seconds < 0) {
    out = "-";
    seconds = static_cast<std::uint64_t>(-(value.seconds + (nanos > 0 ? 1 : 0)));
    nanos = nanos > 0 ? 1'000'000'000 - nanos : 0;
  } else {
    seconds = static_cast<std::uint64_t>(value.seconds);
  }
  out += std::to_string(seconds);
  if (nanos > 0) {
    std::string digits = std::to_string(nanos);
    digits.insert(0, 9 - digits.size(), '0');
    while (digits.back() == '0') digits.pop_back();
    out += "." + digits;
  }
  return out + "s";
}

}  // namespace cairn::expr
