// Two long integers: division, multiplication and subtraction undo each other, and small values agree with the machine.
#include "expr/natural.h"

#include "input.h"

namespace {

std::string digits(std::string_view line) {
  std::string out;
  for (const char c : line) out += static_cast<char>('0' + static_cast<unsigned char>(c) % 10);
  return out;
}

}  // namespace

void fuzz(std::string_view input) {
  using cairn::expr::Natural;
  const std::string left = digits(cairn::fuzzing::take_line(input));
  const std::string right = digits(input);
  const Natural a = Natural::of_digits(left);
  const Natural b = Natural::of_digits(right);
  const std::size_t first = left.find_first_not_of('0');
  CAIRN_ASSERT(a.text() == (first == std::string::npos ? "0" : left.substr(first)));
  CAIRN_ASSERT(a.digits() == a.text().size());
  const Natural sum = a + b;
  CAIRN_ASSERT(sum - b == a && sum >= a);
  const Natural product = a * b;
  CAIRN_ASSERT(product == b * a && product + a == a * (b + Natural(1)));
  if (!b.is_zero()) {
    const Natural::Division whole = product.divided_by(b);
    CAIRN_ASSERT(whole.quotient == a && whole.remainder.is_zero());
    const Natural::Division division = a.divided_by(b);
    CAIRN_ASSERT(division.remainder < b && division.quotient * b + division.remainder == a);
  }
  CAIRN_ASSERT(a.times_ten_to(7) == a * Natural::ten_to(7));
  if (a.fits_uint64() && b.fits_uint64()) CAIRN_ASSERT((a < b) == (a.low_uint64() < b.low_uint64()));
  if (a.fits_uint64()) CAIRN_ASSERT(Natural(a.low_uint64()) == a);
}
