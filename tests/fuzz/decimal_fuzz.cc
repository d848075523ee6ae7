// Two decimals, one a line: the text is exact, and the operations satisfy the laws of arithmetic.
#include "expr/decimal.h"

#include "input.h"

void fuzz(std::string_view input) {
  using namespace cairn::expr;
  const std::string_view text = cairn::fuzzing::take_line(input);
  const auto a = Decimal::parse(text);
  if (!a) return;
  const auto again = Decimal::parse(a->text());
  CAIRN_ASSERT(again.has_value() && *again == *a && again->text() == a->text() && again->scale() == a->scale());
  CAIRN_ASSERT(a->normalized() == *a && -(-*a) == *a && a->abs().sign() >= 0);
  const auto b = Decimal::parse(cairn::fuzzing::take_line(input));
  if (!b) return;
  CAIRN_ASSERT(((*a <=> *b) < 0) == ((*b <=> *a) > 0));
  if (const auto sum = *a + *b) {
    CAIRN_ASSERT(*sum == *(*b + *a));
    if (const auto back = *sum - *b) CAIRN_ASSERT(*back == *a);
  }
  const auto product = *a * *b;
  if (product) CAIRN_ASSERT(*product == *(*b * *a) && product->sign() == a->sign() * b->sign());
  if (b->is_zero()) return;
  if (product) {
    if (const auto back = product->remainder(*b)) CAIRN_ASSERT(a->scale() > 0 || back->is_zero());
  }
  if (const auto rest = a->remainder(*b)) {
    CAIRN_ASSERT(rest->abs() < b->abs() && rest->sign() * a->sign() >= 0);
  }
  const auto scale = static_cast<std::int64_t>(cairn::fuzzing::take_byte(input) % 40);
  const auto down = a->round(scale, Rounding::floor);
  const auto up = a->round(scale, Rounding::ceiling);
  const auto even = a->round(scale, Rounding::half_even);
  if (down && up && even) CAIRN_ASSERT(*down <= *a && *a <= *up && (*even == *down || *even == *up));
}
