// Numbers as text and back, the same on every machine and in every locale.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cairn::expr {

// The shortest digits that read back to the same number, without exponent from 1e-6 up to 1e21:
// 1, 0.0045, 1e+21, NaN, Infinity.
std::string format_number(double value);
// `digits` after the point, rounded half to even on the exact value: 2.50. NaN and Infinity as words.
std::string format_fixed(double value, int digits);
// 1.052033e+03.
std::string format_scientific(double value, int digits);

std::optional<double> parse_number(std::string_view text);
std::optional<std::int64_t> parse_integer(std::string_view text);
std::optional<std::uint64_t> parse_unsigned(std::string_view text);

}  // namespace cairn::expr
