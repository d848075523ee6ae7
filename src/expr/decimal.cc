#include "expr/decimal.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <numeric>
#include <utility>

namespace cairn::expr {

namespace {

Error decimal_too_long() {
  return {ErrorCode::limit, "a decimal has at most " + std::to_string(Decimal::digits_max) + " digits"};
}

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Whether dropping the remainder rounds the quotient away from zero.
bool rounds_up(Rounding mode, bool negative, bool odd, bool any_rest, std::strong_ordering rest_to_half) {
  if (!any_rest) return false;
  switch (mode) {
    case Rounding::up: return true;
    case Rounding::down: return false;
    case Rounding::ceiling: return !negative;
    case Rounding::floor: return negative;
    case Rounding::half_even: return rest_to_half > 0 || (rest_to_half == 0 && odd);
    case Rounding::half_up: return rest_to_half >= 0;
    case Rounding::half_down: return rest_to_half > 0;
  }
  return false;
}

// `value` without its last `digits` digits. `sticky`: an earlier step already dropped a nonzero part.
Natural drop_digits(const Natural& value, std::uint32_t digits, Rounding mode, bool negative, bool sticky) {
  if (digits == 0) return value;
  const Natural unit = Natural::ten_to(digits);
  auto [quotient, rest] = value.divided_by(unit);
  auto to_half = (rest + rest) <=> unit;
  if (to_half == 0 && sticky) to_half = std::strong_ordering::greater;
  const bool up = rounds_up(mode, negative, quotient.is_odd(), sticky || !rest.is_zero(), to_half);
  return up ? quotient + Natural(1) : std::move(quotient);
}

}  // namespace

std::optional<Rounding> find_rounding(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, Rounding>, 7> modes{{{"half_even", Rounding::half_even},
                                                                               {"half_up", Rounding::half_up},
                                                                               {"half_down", Rounding::half_down},
                                                                               {"up", Rounding::up},
                                                                               {"down", Rounding::down},
                                                                               {"ceiling", Rounding::ceiling},
                                                                               {"floor", Rounding::floor}}};
  for (const auto& [known, mode] : modes) {
    if (known == name) return mode;
  }
  return std::nullopt;
}

Result<Decimal> Decimal::checked(Natural coefficient, std::uint64_t scale, bool negative) {
  if (scale > digits_max || coefficient.digits() > digits_max) return decimal_too_long();
  return Decimal(std::move(coefficient), static_cast<std::uint32_t>(scale), negative);
}

Decimal Decimal::of(std::int64_t value) {
  const bool negative = value < 0;
  const auto magnitude = negative ? ~static_cast<std::uint64_t>(value) + 1 : static_cast<std::uint64_t>(value);
  return {Natural(magnitude), 0, negative};
}
Decimal Decimal::of(std::uint64_t value) { return {Natural(value), 0, false}; }

Result<Decimal> Decimal::parse(std::string_view text) {
  const auto refuse = [&](const char* why) {
    return Error{ErrorCode::invalid, "\"" + std::string(text.substr(0, 40)) + "\" is not a decimal: " + why};
  };
  if (text.empty()) return refuse("it is empty");
  std::string_view rest = text;
  const bool negative = rest.front() == '-';
  if (negative) rest.remove_prefix(1);
  const std::size_t point = rest.find('.');
  const std::string_view whole = rest.substr(0, point);
  const std::string_view fraction = point == std::string_view::npos ? std::string_view() : rest.substr(point + 1);
  if (!all_digits(whole) || (point != std::string_view::npos && !all_digits(fraction))) {
    return refuse("write digits with at most one point between them, like 12.50 or -3");
  }
  if (whole.size() + fraction.size() > 2 * std::size_t{digits_max}) return decimal_too_long();
  std::string digits(whole);
  digits += fraction;
  return checked(Natural::of_digits(digits), fraction.size(), negative);
}

std::string Decimal::text() const {
  std::string digits = coefficient_.text();
  if (scale_ > 0) {
    if (digits.size() <= scale_) digits.insert(0, scale_ + 1 - digits.size(), '0');
    digits.insert(digits.size() - scale_, 1, '.');
  }
  if (negative_) digits.insert(0, 1, '-');
  return digits;
}

std::strong_ordering operator<=>(const Decimal& a, const Decimal& b) {
  if (a.sign() != b.sign()) return a.sign() <=> b.sign();
  const std::uint32_t scale = std::max(a.scale_, b.scale_);
  const auto order = a.coefficient_.times_ten_to(scale - a.scale_) <=> b.coefficient_.times_ten_to(scale - b.scale_);
  return a.negative_ ? 0 <=> order : order;
}

Decimal Decimal::operator-() const { return {coefficient_, scale_, !negative_}; }
Decimal Decimal::abs() const { return {coefficient_, scale_, false}; }

Result<Decimal> Decimal::plus(const Decimal& other, bool other_negative) const {
  const std::uint32_t scale = std::max(scale_, other.scale_);
  const Natural mine = coefficient_.times_ten_to(scale - scale_);
  const Natural theirs = other.coefficient_.times_ten_to(scale - other.scale_);
  if (negative_ == other_negative) return checked(mine + theirs, scale, negative_);
  if (mine >= theirs) return checked(mine - theirs, scale, negative_);
  return checked(theirs - mine, scale, other_negative);
}

Result<Decimal> operator+(const Decimal& a, const Decimal& b) { return a.plus(b, b.negative_); }
Result<Decimal> operator-(const Decimal& a, const Decimal& b) { return a.plus(b, !b.negative_); }
Result<Decimal> operator*(const Decimal& a, const Decimal& b) {
  return Decimal::checked(a.coefficient_ * b.coefficient_, std::uint64_t{a.scale_} + b.scale_,
                          a.negative_ != b.negative_);
}

Result<Decimal> Decimal::divided_by(const Decimal& divisor) const {
  const bool negative = negative_ != divisor.negative_;
  const std::int64_t wanted_scale = std::max<std::int64_t>(0, std::int64_t{scale_} - divisor.scale_);
  if (is_zero()) return checked(Natural(), static_cast<std::uint64_t>(wanted_scale), false);

  // The shift gives the quotient at least one digit more than it may keep.
  const std::int64_t shift = std::max<std::int64_t>(
      0, std::int64_t{divisor.precision()} - std::int64_t{precision()} + std::int64_t{division_digits} + 1);
  auto [quotient, rest] = coefficient_.times_ten_to(static_cast<std::uint32_t>(shift)).divided_by(divisor.coefficient_);
  std::int64_t scale = std::int64_t{scale_} - divisor.scale_ + shift;
  const bool exact = rest.is_zero();
  if (exact && scale > wanted_scale) {
    const auto zeros = std::min<std::int64_t>(scale - wanted_scale, quotient.trailing_zeros());
    quotient = drop_digits(quotient, static_cast<std::uint32_t>(zeros), Rounding::down, negative, false);
    scale -= zeros;
  }
  bool lost = !exact;
  // The loop runs twice if rounding 99…9 up adds a digit.
  while (quotient.digits() > division_digits) {
    const auto extra = static_cast<std::uint32_t>(quotient.digits()) - division_digits;
    quotient = drop_digits(quotient, extra, Rounding::half_even, negative, std::exchange(lost, false));
    scale -= extra;
  }
  if (scale < 0) {
    quotient = quotient.times_ten_to(static_cast<std::uint32_t>(-scale));
    scale = 0;
  }
  return checked(std::move(quotient), static_cast<std::uint64_t>(scale), negative);
}

Result<Decimal> Decimal::remainder(const Decimal& divisor) const {
  const std::uint32_t scale = std::max(scale_, divisor.scale_);
  const Natural mine = coefficient_.times_ten_to(scale - scale_);
  return checked(mine.divided_by(divisor.coefficient_.times_ten_to(scale - divisor.scale_)).remainder, scale,
                 negative_);
}

Result<Decimal> Decimal::round(std::int64_t scale, Rounding mode) const {
  constexpr std::int64_t limit = digits_max;
  if (scale > limit || scale < -limit) return decimal_too_long();
  if (scale >= scale_) {
    return checked(coefficient_.times_ten_to(static_cast<std::uint32_t>(scale - scale_)),
                   static_cast<std::uint64_t>(scale), negative_);
  }
  const auto digits = static_cast<std::uint32_t>(scale_ - scale);
  Natural rounded = drop_digits(coefficient_, digits, mode, negative_, false);
  if (scale < 0) {
    rounded = rounded.times_ten_to(static_cast<std::uint32_t>(-scale));
    scale = 0;
  }
  return checked(std::move(rounded), static_cast<std::uint64_t>(scale), negative_);
}

Result<std::vector<Decimal>> Decimal::split(std::uint32_t parts, std::uint32_t scale) const {
  return allocate(std::vector<Decimal>(parts, Decimal::of(std::int64_t{1})), scale);
}

Result<std::vector<Decimal>> Decimal::allocate(const std::vector<Decimal>& weights, std::uint32_t scale) const {
  CAIRN_TRY(const Decimal total, round(scale, Rounding::down));
  if (total != *this) {
    return Error{ErrorCode::invalid,
                 text() + " has more than " + std::to_string(scale) + " digits after the point; round it first"};
  }
  std::uint32_t weight_scale = 0;
  for (const Decimal& weight : weights) weight_scale = std::max(weight_scale, weight.scale_);
  std::vector<Natural> units;
  Natural unit_total;
  for (const Decimal& weight : weights) {
    if (weight.negative_) return Error{ErrorCode::invalid, "a weight is negative: " + weight.text()};
    units.push_back(weight.coefficient_.times_ten_to(weight_scale - weight.scale_));
    unit_total = unit_total + units.back();
  }
  if (unit_total.is_zero()) return Error{ErrorCode::invalid, "the weights are all zero, or there are none"};

  std::vector<Natural> shares;
  std::vector<Natural> rests;
  Natural left = total.coefficient_;
  for (const Natural& unit : units) {
    auto [share, rest] = (total.coefficient_ * unit).divided_by(unit_total);
    left = left - share;
    shares.push_back(std::move(share));
    rests.push_back(std::move(rest));
  }
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return rests[a] > rests[b]; });
  // Each share lost less than one unit, so fewer units are left than there are shares.
  for (std::uint64_t i = 0; i < left.low_uint64(); ++i) shares[order[i]] = shares[order[i]] + Natural(1);

  std::vector<Decimal> result;
  result.reserve(shares.size());
  for (Natural& share : shares) result.push_back(Decimal(std::move(share), scale, negative_));
  return result;
}

Decimal Decimal::normalized() const {
  if (is_zero()) return {};
  const std::uint32_t zeros = std::min(scale_, coefficient_.trailing_zeros());
  return {drop_digits(coefficient_, zeros, Rounding::down, negative_, false), scale_ - zeros, negative_};
}

std::optional<std::uint64_t> Decimal::to_unsigned_integer() const {
  const Natural whole = drop_digits(coefficient_, scale_, Rounding::down, negative_, false);
  if (!whole.fits_uint64() || (negative_ && !whole.is_zero())) return std::nullopt;
  return whole.low_uint64();
}

std::optional<std::int64_t> Decimal::to_integer() const {
  const auto whole = abs().to_unsigned_integer();
  constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!whole || *whole > largest + (negative_ ? 1 : 0)) return std::nullopt;
  return static_cast<std::int64_t>(negative_ ? ~*whole + 1 : *whole);
}

double Decimal::to_double() const {
  const std::string digits = text();
  double result = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), result);
  if (read.ec == std::errc::result_out_of_range && coefficient_.digits() > scale_) {
    const double infinite = std::numeric_limits<double>::infinity();
    return negative_ ? -infinite : infinite;
  }
  return result;
}

}  // namespace cairn::expr
