// Any text as a duration: both written forms of what is accepted read back the same.
#include "base/time.h"
#include "input.h"

void fuzz(std::string_view text) {
  const auto length = cairn::parse_duration(text);
  if (!length) return;
  CAIRN_ASSERT(!length->negative() && length->nanos >= 0 && length->nanos < 1'000'000'000);
  CAIRN_ASSERT(length->seconds <= cairn::Duration::seconds_max);
  for (const std::string& written : {cairn::format_duration(*length), cairn::format_duration_short(*length)}) {
    const auto again = cairn::parse_duration(written);
    CAIRN_ASSERT(again.has_value() && *again == *length);
  }
  const std::int64_t ms = length->ms_up();
  CAIRN_ASSERT(cairn::Duration::of_ms(ms) >= *length && (ms == 0 || cairn::Duration::of_ms(ms - 1) < *length));
}
