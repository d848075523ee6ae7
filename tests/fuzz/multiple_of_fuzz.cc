// Two JSON numbers, one a line: `multipleOf` is exact, as long division of the decimal digits says.
#include <cmath>

#include "expr/decimal.h"
#include "expr/number_text.h"
#include "input.h"
#include "schema/decimal.h"

namespace {

// The digits without an exponent; numbers far from 1 are left out.
std::optional<cairn::expr::Decimal> plain(const cairn::Json& json) {
  if (json.is_integer()) return cairn::expr::Decimal::of(json.as_integer());
  const double size = std::fabs(json.as_double());
  if (size >= 1e20 || (size > 0 && size < 1e-6)) return std::nullopt;
  const auto read = cairn::expr::Decimal::parse(cairn::expr::format_number(json.as_double()));
  return read ? std::optional(*read) : std::nullopt;
}

}  // namespace

void fuzz(std::string_view input) {
  const auto value = cairn::parse_json(cairn::fuzzing::take_line(input));
  const auto unit = cairn::parse_json(input);
  if (!value || !unit || !value->is_number() || !unit->is_number() || unit->as_double() == 0) return;
  const bool multiple = cairn::schema::is_multiple(cairn::schema::decimal_of(*value), cairn::schema::decimal_of(*unit));
  const auto a = plain(*value);
  const auto b = plain(*unit);
  if (!a || !b) return;
  const auto rest = a->remainder(*b);
  if (rest) CAIRN_ASSERT(multiple == rest->is_zero());
}
