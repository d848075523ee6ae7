#include "schema/decimal.h"

#include <charconv>
#include <cmath>
#include <string_view>

#include "schema/characters.h"

namespace cairn::schema {
namespace {

__extension__ using Wide = unsigned __int128;

std::uint64_t times_power_of_ten(std::uint64_t value, int exponent, std::uint64_t modulus) {
  Wide result = value % modulus;
  Wide factor = 10 % modulus;
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) result = result * factor % modulus;
    factor = factor * factor % modulus;
  }
  return static_cast<std::uint64_t>(result);
}

}  // namespace

Decimal decimal_of(const Json& number) {
  if (number.is_integer()) {
    const std::int64_t value = number.as_integer();
    return {value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value), 0};
  }
  char buffer[32];
  const auto written =
      std::to_chars(buffer, buffer + sizeof buffer, std::abs(number.as_double()), std::chars_format::scientific);
  const std::string_view text(buffer, static_cast<std::size_t>(written.ptr - buffer));
  Decimal out;
  std::size_t at = 0;
  for (bool fraction = false; at < text.size() && text[at] != 'e'; ++at) {
    if (text[at] == '.') {
      fraction = true;
    } else {
      out.digits = out.digits * 10 + static_cast<std::uint64_t>(text[at] - '0');
      if (fraction) --out.exponent;
    }
  }
  int exponent = 0;
  ++at;
  if (at < text.size() && text[at] == '+') ++at;
  std::from_chars(text.data() + at, text.data() + text.size(), exponent);
  out.exponent += exponent;
  return out;
}

bool is_multiple(Decimal value, Decimal unit) {
  if (value.digits == 0) return true;
  if (value.exponent >= unit.exponent) {
    return times_power_of_ten(value.digits, value.exponent - unit.exponent, unit.digits) == 0;
  }
  for (int i = value.exponent; i < unit.exponent; ++i) {
    if (value.digits % 10 != 0) return false;
    value.digits /= 10;
  }
  return value.digits % unit.digits == 0;
}

}  // namespace cairn::schema
