// Any text as a duration of an expression: what is accepted is written in seconds and reads back the same, and agrees
// with the parser of definitions.
#include "expr/duration_text.h"

#include "input.h"

void fuzz(std::string_view text) {
  const auto length = cairn::expr::read_duration(text);
  const auto plain = cairn::parse_duration(text);
  if (plain) CAIRN_ASSERT(length.has_value() && *length == *plain);
  if (!length) return;
  CAIRN_ASSERT(length->nanos >= 0 && length->nanos < 1'000'000'000);
  CAIRN_ASSERT(length->seconds >= -cairn::Duration::seconds_max && length->seconds <= cairn::Duration::seconds_max);
  const auto again = cairn::expr::read_duration(cairn::expr::format_seconds(*length));
  CAIRN_ASSERT(again.has_value() && *again == *length);
  const auto iso = cairn::expr::read_duration(cairn::format_duration(*length));
  CAIRN_ASSERT(iso.has_value() && *iso == *length);
}
