#include "expr/natural.h"

#include <algorithm>
#include <array>

namespace cairn::expr {

namespace {

constexpr std::uint32_t base = 1'000'000'000;
constexpr std::uint32_t base_digits = 9;
constexpr std::array<std::uint32_t, base_digits + 1> powers{1,       10,        100,        1'000,       10'000,
                                                            100'000, 1'000'000, 10'000'000, 100'000'000, base};

std::uint32_t digits_of(std::uint32_t limb) {
  std::uint32_t count = 1;
  while (count < base_digits && limb >= powers[count]) ++count;
  return count;
}

}  // namespace

Natural::Natural(std::uint64_t value) {
  for (; value != 0; value /= base) limbs_.push_back(static_cast<std::uint32_t>(value % base));
}

Natural Natural::of_digits(std::string_view digits) {
  Natural result;
  result.limbs_.reserve(digits.size() / base_digits + 1);
  while (!digits.empty()) {
    const std::size_t count = std::min<std::size_t>(digits.size(), base_digits);
    std::uint32_t limb = 0;
    for (const char c : digits.substr(digits.size() - count)) limb = limb * 10 + static_cast<std::uint32_t>(c - '0');
    result.limbs_.push_back(limb);
    digits.remove_suffix(count);
  }
  result.trim();
  return result;
}

Natural Natural::ten_to(std::uint32_t exponent) {
  Natural result;
  result.limbs_.assign(exponent / base_digits, 0);
  result.limbs_.push_back(powers[exponent % base_digits]);
  return result;
}

void Natural::trim() {
  while (!limbs_.empty() && limbs_.back() == 0) limbs_.pop_back();
}

std::size_t Natural::digits() const {
  if (limbs_.empty()) return 1;
  return (limbs_.size() - 1) * base_digits + digits_of(limbs_.back());
}

std::string Natural::text() const {
  if (limbs_.empty()) return "0";
  std::string result = std::to_string(limbs_.back());
  result.reserve(digits());
  for (std::size_t i = limbs_.size() - 1; i-- > 0;) {
    for (std::size_t place = base_digits; place-- > 0;) {
      result.push_back(static_cast<char>('0' + limbs_[i] / powers[place] % 10));
    }
  }
  return result;
}

bool Natural::fits_uint64() const {
  static const Natural largest(~std::uint64_t{0});
  return *this <= largest;
}

std::uint64_t Natural::low_uint64() const {
  std::uint64_t result = 0;
  for (std::size_t i = limbs_.size(); i-- > 0;) result = result * base + limbs_[i];
  return result;
}

std::strong_ordering operator<=>(const Natural& a, const Natural& b) {
  if (a.limbs_.size() != b.limbs_.size()) return a.limbs_.size() <=> b.limbs_.size();
  for (std::size_t i = a.limbs_.size(); i-- > 0;) {
    if (a.limbs_[i] != b.limbs_[i]) return a.limbs_[i] <=> b.limbs_[i];
  }
  return std::strong_ordering::equal;
}

Natural operator+(const Natural& a, const Natural& b) {
  if (a.limbs_.size() < b.limbs_.size()) return b + a;
  Natural result = a;
  std::uint32_t carry = 0;
  for (std::size_t i = 0; i < result.limbs_.size() && (i < b.limbs_.size() || carry != 0); ++i) {
    std::uint32_t sum = result.limbs_[i] + carry + (i < b.limbs_.size() ? b.limbs_[i] : 0);
    carry = sum >= base ? 1 : 0;
    if (carry != 0) sum -= base;
    result.limbs_[i] = sum;
  }
  if (carry != 0) result.limbs_.push_back(carry);
  return result;
}

Natural operator-(const Natural& a, const Natural& b) {
  Natural result = a;
  std::uint32_t borrow = 0;
  for (std::size_t i = 0; i < result.limbs_.size() && (i < b.limbs_.size() || borrow != 0); ++i) {
    const std::uint32_t take = borrow + (i < b.limbs_.size() ? b.limbs_[i] : 0);
    borrow = result.limbs_[i] < take ? 1 : 0;
    result.limbs_[i] = result.limbs_[i] + (borrow != 0 ? base : 0) - take;
  }
  result.trim();
  return result;
}

Natural operator*(const Natural& a, const Natural& b) {
  Natural result;
  if (a.is_zero() || b.is_zero()) return result;
  result.limbs_.assign(a.limbs_.size() + b.limbs_.size(), 0);
  for (std::size_t i = 0; i < a.limbs_.size(); ++i) {
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < b.limbs_.size() || carry != 0; ++j) {
      const std::uint64_t product =
          result.limbs_[i + j] + carry + (j < b.limbs_.size() ? std::uint64_t{a.limbs_[i]} * b.limbs_[j] : 0);
      result.limbs_[i + j] = static_cast<std::uint32_t>(product % base);
      carry = product / base;
    }
  }
  result.trim();
  return result;
}

Natural Natural::times_ten_to(std::uint32_t exponent) const {
  if (is_zero() || exponent == 0) return *this;
  const std::uint32_t factor = powers[exponent % base_digits];
  Natural result;
  result.limbs_.assign(exponent / base_digits, 0);
  result.limbs_.reserve(result.limbs_.size() + limbs_.size() + 1);
  std::uint64_t carry = 0;
  for (const std::uint32_t limb : limbs_) {
    const std::uint64_t product = std::uint64_t{limb} * factor + carry;
    result.limbs_.push_back(static_cast<std::uint32_t>(product % base));
    carry = product / base;
  }
  if (carry != 0) result.limbs_.push_back(static_cast<std::uint32_t>(carry));
  return result;
}

std::uint32_t Natural::divide_small(std::uint32_t divisor) {
  std::uint64_t remainder = 0;
  for (std::size_t i = limbs_.size(); i-- > 0;) {
    const std::uint64_t part = remainder * base + limbs_[i];
    limbs_[i] = static_cast<std::uint32_t>(part / divisor);
    remainder = part % divisor;
  }
  trim();
  return static_cast<std::uint32_t>(remainder);
}

// Knuth, The Art of Computer Programming, volume 2, 4.3.1, algorithm D.
Natural::Division Natural::divided_by(const Natural& divisor) const {
  if (*this < divisor) return {Natural(), *this};
  if (divisor.limbs_.size() == 1) {
    Natural quotient = *this;
    const std::uint32_t rest = quotient.divide_small(divisor.limbs_.front());
    return {std::move(quotient), Natural(rest)};
  }
  const std::uint32_t factor = base / (divisor.limbs_.back() + 1);
  Natural scaled = *this * Natural(factor);
  const Natural by = divisor * Natural(factor);
  const std::size_t count = by.limbs_.size();
  scaled.limbs_.resize(limbs_.size() + 1, 0);
  const std::size_t places = scaled.limbs_.size() - count;
  const std::uint64_t first = by.limbs_[count - 1];
  const std::uint64_t second = by.limbs_[count - 2];

  Natural quotient;
  quotient.limbs_.assign(places, 0);
  for (std::size_t place = places; place-- > 0;) {
    std::uint32_t* window = scaled.limbs_.data() + place;
    const std::uint64_t top = std::uint64_t{window[count]} * base + window[count - 1];
    std::uint64_t guess = top / first;
    std::uint64_t rest = top % first;
    while (guess >= base || guess * second > rest * base + window[count - 2]) {
      --guess;
      rest += first;
      if (rest >= base) break;
    }
    std::uint64_t carry = 0;
    std::uint32_t borrow = 0;
    for (std::size_t i = 0; i <= count; ++i) {
      const std::uint64_t product = carry + (i < count ? guess * by.limbs_[i] : 0);
      carry = product / base;
      const std::uint32_t take = static_cast<std::uint32_t>(product % base) + borrow;
      borrow = window[i] < take ? 1 : 0;
      window[i] = window[i] + (borrow != 0 ? base : 0) - take;
    }
    if (borrow != 0) {
      // The guess was one too large. The two-limb test misses this about twice in 10^9 cases.
      --guess;
      std::uint32_t over = 0;
      for (std::size_t i = 0; i <= count; ++i) {
        std::uint32_t sum = window[i] + over + (i < count ? by.limbs_[i] : 0);
        over = sum >= base ? 1 : 0;
        window[i] = over != 0 ? sum - base : sum;
      }
    }
    quotient.limbs_[place] = static_cast<std::uint32_t>(guess);
  }
  quotient.trim();
  scaled.trim();
  scaled.divide_small(factor);
  return {std::move(quotient), std::move(scaled)};
}

std::uint32_t Natural::trailing_zeros() const {
  std::uint32_t count = 0;
  for (const std::uint32_t limb : limbs_) {
    if (limb == 0) {
      count += base_digits;
      continue;
    }
    std::uint32_t place = 1;
    while (limb % powers[place] == 0) ++place;
    return count + place - 1;
  }
  return 0;
}

}  // namespace cairn::expr
