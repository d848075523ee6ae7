// Any text as a duration of an expression: what is accepted is written in seconds and reads back the same, and agrees
// with the parser of definitions, up to the shorter maximum of expressions.
#include "expr/duration_text.h"
#include "expr/operators.h"

#include "input.h"

void fuzz(std::string_view text) {
  const auto length = cairn::expr::read_duration(text);
  const auto plain = cairn::parse_duration(text);
  if (plain && cairn::expr::in_range(*plain)) CAIRN_ASSERT(length.has_value() && *length == *plain);
  if (!length) return;
  CAIRN_ASSERT(length->nanos >= 0 && length->nanos < 1'000'000'000);
  CAIRN_ASSERT(cairn::expr::in_range(*length));
  const auto again = cairn::expr::read_duration(cairn::expr::format_seconds(*length));
  CAIRN_ASSERT(again.has_value() && *again == *length);
  const auto iso = cairn::expr::read_duration(cairn::format_duration(*length));
  CAIRN_ASSERT(iso.has_value() && *iso == *length);
}
