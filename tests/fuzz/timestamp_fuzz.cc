// Any text as an instant: what is accepted lies in the years 1 to 9999, and its canonical text names the instant that
// the C library computes, and reads back the same.
#include <cstdio>
#include <ctime>

#include "base/time.h"
#include "input.h"

void fuzz(std::string_view text) {
  const auto at = cairn::parse_timestamp(text);
  if (!at) return;
  CAIRN_ASSERT(at->seconds >= cairn::Timestamp::seconds_min && at->seconds <= cairn::Timestamp::seconds_max);
  CAIRN_ASSERT(at->nanos >= 0 && at->nanos < 1'000'000'000);
  const std::string written = cairn::format_timestamp(*at);
  CAIRN_ASSERT(written.size() <= 30 && written.back() == 'Z');
  const auto again = cairn::parse_timestamp(written);
  CAIRN_ASSERT(again.has_value() && *again == *at);
  std::tm fields{};
  CAIRN_ASSERT(std::sscanf(written.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d", &fields.tm_year, &fields.tm_mon, &fields.tm_mday,
                           &fields.tm_hour, &fields.tm_min, &fields.tm_sec) == 6);
  fields.tm_year -= 1900;
  fields.tm_mon -= 1;
  CAIRN_ASSERT(timegm(&fields) == at->seconds);
}
