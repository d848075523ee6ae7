// Eight bytes as a number, the rest as the text of one: written numbers read back the same, and text is read as the C
// library reads it.
#include "expr/number_text.h"

#include <bit>
#include <cmath>
#include <cstdlib>

#include "input.h"

void fuzz(std::string_view input) {
  using namespace cairn::expr;
  const std::uint64_t bits = cairn::fuzzing::take_number(input);
  const double number = std::bit_cast<double>(bits);
  const auto back = parse_number(format_number(number));
  CAIRN_ASSERT(back.has_value() && (std::isnan(number) ? std::isnan(*back) : *back == number));
  if (std::isfinite(number)) {
    const auto precise = parse_number(format_scientific(number, 17));
    CAIRN_ASSERT(precise.has_value() && *precise == number);
    const std::string fixed = format_fixed(number, 3);
    CAIRN_ASSERT(fixed.size() >= 5 && fixed[fixed.size() - 4] == '.');
  }
  CAIRN_ASSERT(parse_integer(std::to_string(static_cast<std::int64_t>(bits))) == static_cast<std::int64_t>(bits));
  CAIRN_ASSERT(parse_unsigned(std::to_string(bits)) == bits);
  const auto read = parse_number(input);
  if (read && std::isfinite(*read)) {
    char* end = nullptr;
    const std::string text(input);
    CAIRN_ASSERT(std::strtod(text.c_str(), &end) == *read && end == text.c_str() + text.size());
  }
  if (const auto integer = parse_integer(input)) {
    const std::string text(input);
    CAIRN_ASSERT(std::strtoll(text.c_str(), nullptr, 10) == *integer);
  }
}
