// Unsigned integers of any size, for the digits of a decimal. The base is 10^9, because scaling by powers of ten and
// conversion to text are the most frequent operations and cheap in this base.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::expr {

class Natural {
 public:
  Natural() = default;  // zero
  explicit Natural(std::uint64_t value);
  static Natural of_digits(std::string_view digits);  // '0'..'9' only; leading zeros are allowed
  static Natural ten_to(std::uint32_t exponent);

  bool is_zero() const { return limbs_.empty(); }
  bool is_odd() const { return !limbs_.empty() && limbs_.front() % 2 == 1; }
  std::size_t digits() const;  // 1 for zero
  std::size_t limbs() const { return limbs_.size(); }
  std::string text() const;  // without leading zeros
  bool fits_uint64() const;
  std::uint64_t low_uint64() const;  // the value if it fits, otherwise modulo 2^64

  friend std::strong_ordering operator<=>(const Natural& a, const Natural& b);
  friend bool operator==(const Natural& a, const Natural& b) = default;
  friend Natural operator+(const Natural& a, const Natural& b);
  friend Natural operator-(const Natural& a, const Natural& b);  // a >= b
  friend Natural operator*(const Natural& a, const Natural& b);
  Natural times_ten_to(std::uint32_t exponent) const;

  struct Division;
  Division divided_by(const Natural& divisor) const;  // divisor > 0
  std::uint32_t trailing_zeros() const;               // decimal zeros; 0 for zero

 private:
  void trim();
  std::uint32_t divide_small(std::uint32_t divisor);  // in place; answers the remainder

  std::vector<std::uint32_t> limbs_;  // lowest first; the last one is not 0
};

struct Natural::Division {
  Natural quotient;
  Natural remainder;
};

}  // namespace cairn::expr
