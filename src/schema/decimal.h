// Decimal arithmetic on numbers as written: 0.0075 is a multiple of 0.0001 although neither is exact as a double.
#pragma once

#include <cstdint>

#include "base/json.h"

namespace cairn::schema {

// digits * 10^exponent. The sign is omitted, because it does not matter for multiples.
struct Decimal {
  std::uint64_t digits = 0;
  int exponent = 0;
};

// The shortest decimal that reads back as the same number.
Decimal decimal_of(const Json& number);
// Whether value / unit is a whole number, exactly. `unit` is not zero.
bool is_multiple(Decimal value, Decimal unit);

}  // namespace cairn::schema
