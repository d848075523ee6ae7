// Converts numbers to text and back, independent of machine and locale.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cairn::expr {

// The shortest digits that read back as the same number, without an exponent from 1e-6 up to 1e21: 1, 0.0045, 1e+21,
// NaN, Infinity.
std::string format_number(double value);
// `digits` digits after the point, rounding the exact value half to even: 2.50. NaN and Infinity are words.
std::string format_fixed(double value, int digits);
// 1.052033e+03.
std::string format_scientific(double value, int digits);

std::optional<double> parse_number(std::string_view text);
std::optional<std::int64_t> parse_integer(std::string_view text);
std::optional<std::uint64_t> parse_unsigned(std::string_view text);

}  // namespace cairn::expr
