// Exact decimals: a whole number and how many of its digits stand after the point. What was added
// or multiplied stays exact; only `/` and `round` round, and both say how.
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
  // Neither the digits in all nor those after the point may be more, so that every operation has a
  // bounded cost. Passing it is ErrorCode::limit.
  static constexpr std::uint32_t digits_max = 1'000;
  static constexpr std::uint32_t division_digits = 34;

  Decimal() = default;  // 0
  static Decimal of(std::int64_t value);
  static Decimal of(std::uint64_t value);
  // `-12.50`: a sign only for negative ones, digits on both sides of a point. No exponent, no
  // white space, no grouping.
  static Result<Decimal> parse(std::string_view text);

  std::string text() const;  // all digits, as many after the point as the scale says
  std::uint32_t scale() const { return scale_; }
  std::uint32_t precision() const { return static_cast<std::uint32_t>(coefficient_.digits()); }
  int sign() const { return coefficient_.is_zero() ? 0 : negative_ ? -1 : 1; }
  bool is_zero() const { return coefficient_.is_zero(); }
  std::size_t limbs() const { return coefficient_.limbs(); }  // what operations cost by

  // By value: 1.10 and 1.1 are equal.
  friend std::strong_ordering operator<=>(const Decimal& a, const Decimal& b);
  friend bool operator==(const Decimal& a, const Decimal& b) { return (a <=> b) == 0; }

  Decimal operator-() const;
  Decimal abs() const;
  // The scale is the larger one of the two, for products the sum of both.
  friend Result<Decimal> operator+(const Decimal& a, const Decimal& b);
  friend Result<Decimal> operator-(const Decimal& a, const Decimal& b);
  friend Result<Decimal> operator*(const Decimal& a, const Decimal& b);
  // 34 significant digits, half-even. An exact quotient keeps the scale that a.scale - b.scale
  // would give, when it can: 10.00 / 4 is 2.50.
  Result<Decimal> divided_by(const Decimal& divisor) const;  // divisor != 0
  // What is left of a after taking away whole multiples of b; has the sign of a.
  Result<Decimal> remainder(const Decimal& divisor) const;  // divisor != 0

  // A larger scale adds zeros; a negative one rounds before the point and gives scale 0.
  Result<Decimal> round(std::int64_t scale, Rounding mode) const;
  // `parts` amounts of the given scale whose sum is exactly this; the first ones get what is left
  // over, one unit each. This must have no more digits after the point than `scale`.
  Result<std::vector<Decimal>> split(std::uint32_t parts, std::uint32_t scale) const;
  // The same in proportion to weights, none negative and not all zero; the largest remainders get
  // what is left over, of equal ones the first.
  Result<std::vector<Decimal>> allocate(const std::vector<Decimal>& weights, std::uint32_t scale) const;
  // Without zeros at the end of the fraction.
  Decimal normalized() const;

  std::optional<std::int64_t> to_integer() const;  // towards zero; nothing beyond 64 bits
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
