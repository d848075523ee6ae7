// Exact decimals: an integer and the number of its digits after the point. Addition and multiplication are exact. Only
// `/` and `round` round, each by a documented rule.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "expr/natural.h"

namespace cairn::expr {

enum class Rounding : std::uint8_t { half_even, half_up, half_down, up, down, ceiling, floor };

std::optional<Rounding> find_rounding(std::string_view name);
inline constexpr std::string_view rounding_names = "half_even, half_up, half_down, up, down, ceiling, floor";

class Decimal {
 public:
  // The maximum number of all digits and of digits after the point. It bounds the cost of every operation. Exceeding it
  // is ErrorCode::limit.
  static constexpr std::uint32_t digits_max = 1'000;
  static constexpr std::uint32_t division_digits = 34;

  Decimal() = default;  // 0
  static Decimal of(std::int64_t value);
  static Decimal of(std::uint64_t value);
  // Parses `-12.50`: a sign only for negative numbers, digits on both sides of the point. No exponent, no white space,
  // no grouping.
  static Result<Decimal> parse(std::string_view text);

  std::string text() const;  // all digits, with `scale` of them after the point
  std::uint32_t scale() const { return scale_; }
  std::uint32_t precision() const { return static_cast<std::uint32_t>(coefficient_.digits()); }
  int sign() const { return coefficient_.is_zero() ? 0 : negative_ ? -1 : 1; }
  bool is_zero() const { return coefficient_.is_zero(); }
  std::size_t limbs() const { return coefficient_.limbs(); }  // the measure of an operation's cost

  // Compares by value: 1.10 and 1.1 are equal.
  friend std::strong_ordering operator<=>(const Decimal& a, const Decimal& b);
  friend bool operator==(const Decimal& a, const Decimal& b) { return (a <=> b) == 0; }

  Decimal operator-() const;
  Decimal abs() const;
  // The result's scale is the larger of both; for products, their sum.
  friend Result<Decimal> operator+(const Decimal& a, const Decimal& b);
  friend Result<Decimal> operator-(const Decimal& a, const Decimal& b);
  friend Result<Decimal> operator*(const Decimal& a, const Decimal& b);
  // 34 significant digits, half-even. An exact quotient has the scale a.scale - b.scale if that is possible: 10.00 / 4
  // is 2.50.
  Result<Decimal> divided_by(const Decimal& divisor) const;  // divisor != 0
  // The remainder after subtracting whole multiples of the divisor; has the sign of the dividend.
  Result<Decimal> remainder(const Decimal& divisor) const;  // divisor != 0

  // A larger scale adds zeros. A negative scale rounds before the point and gives scale 0.
  Result<Decimal> round(std::int64_t scale, Rounding mode) const;
  // Splits this into `parts` amounts of the given scale whose sum is exact. The first parts get the leftover units, one
  // each. This must have no more digits after the point than `scale`.
  Result<std::vector<Decimal>> split(std::uint32_t parts, std::uint32_t scale) const;
  // The same in proportion to weights, none negative and not all zero. The largest remainders get the leftover units;
  // if remainders are equal, the first.
  Result<std::vector<Decimal>> allocate(const std::vector<Decimal>& weights, std::uint32_t scale) const;
  // The same value without trailing zeros in the fraction.
  Decimal normalized() const;

  std::optional<std::int64_t> to_integer() const;  // rounds towards zero; empty beyond 64 bits
  std::optional<std::uint64_t> to_unsigned_integer() const;
  double to_double() const;  // the nearest; infinity beyond the range

 private:
  Decimal(Natural coefficient, std::uint32_t scale, bool negative)
      : coefficient_(std::move(coefficient)), scale_(scale), negative_(negative && !coefficient_.is_zero()) {}
  static Result<Decimal> checked(Natural coefficient, std::uint64_t scale, bool negative);
  Result<Decimal> plus(const Decimal& other, bool other_negative) const;

  Natural coefficient_;
  std::uint32_t scale_ = 0;
  bool negative_ = false;  // never of zero
};

}  // namespace cairn::expr
