// The math extension. It only rounds and compares, so nothing depends on the machine's libm.
#include <bit>
#include <limits>

#include "expr/function.h"

namespace cairn::expr {

namespace {

using Args = std::span<Value>;
using Kind = Value::Kind;

constexpr double whole_from = 4503599627370496.0;  // 2^52: doubles from here on have no fraction

bool is_finite(double value) { return value - value == 0; }

double truncated(double value) {
  if (!(value < whole_from && value > -whole_from)) return value;
  const auto whole = static_cast<double>(static_cast<std::int64_t>(value));
  // Keeps the sign of a zero.
  return whole == 0 ? (std::bit_cast<std::uint64_t>(value) >> 63 ? -0.0 : 0.0) : whole;
}
double floored(double value) {
  const double whole = truncated(value);
  return whole > value ? whole - 1 : whole;
}
double ceiled(double value) {
  const double whole = truncated(value);
  return whole < value ? whole + 1 : whole;
}
double rounded(double value) {
  const double whole = truncated(value);
  const double rest = value - whole;
  if (rest >= 0.5) return whole + 1;
  if (rest <= -0.5) return whole - 1;
  return whole;
}

Value extreme(Context& context, Args args, int sign, const char* name) {
  const bool from_list = args.size() == 1 && args[0].is(Kind::list);
  const std::size_t count = from_list ? args[0].size() : args.size();
  if (count == 0) return context.fail("invalid_argument", std::string(name) + " needs at least one number");
  if (!context.spend_steps(count)) return context.error();
  Value best;
  bool decimals = false;
  bool doubles = false;
  for (std::size_t i = 0; i < count; ++i) {
    Value one = from_list ? args[0].item(i) : args[i];
    if (!one.is_number() && !one.is(Kind::decimal)) {
      return context.fail("no_such_overload",
                          std::string(name) + " needs numbers, found " + std::string(describe(one.kind())));
    }
    decimals = decimals || one.is(Kind::decimal);
    doubles = doubles || one.is(Kind::number);
    if (decimals && doubles) {
      return context.fail("no_such_overload", std::string(name) + " cannot compare " +
                                                  std::string(describe(Kind::decimal)) + " and " +
                                                  std::string(describe(Kind::number)));
    }
    if (i == 0) {
      best = std::move(one);
      continue;
    }
    const auto order = compare(one, best);  // empty for NaN, which never replaces a number
    if (order && *order * sign > 0) best = std::move(one);
  }
  return best;
}
Value greatest(Context& context, Args args) { return extreme(context, args, 1, "math.greatest"); }
Value least(Context& context, Args args) { return extreme(context, args, -1, "math.least"); }

Value ceil(Context&, Args args) { return Value::number(ceiled(args[0].as_number())); }
Value floor(Context&, Args args) { return Value::number(floored(args[0].as_number())); }
Value round(Context&, Args args) { return Value::number(rounded(args[0].as_number())); }
Value trunc(Context&, Args args) { return Value::number(truncated(args[0].as_number())); }

Value abs_integer(Context& context, Args args) {
  const std::int64_t value = args[0].as_integer();
  if (value == std::numeric_limits<std::int64_t>::min())
    return context.fail("overflow", "the absolute value leaves the range of 64 bits");
  return Value::integer(value < 0 ? -value : value);
}
Value abs_number(Context&, Args args) {
  return Value::number(
      std::bit_cast<double>(std::bit_cast<std::uint64_t>(args[0].as_number()) & ~(std::uint64_t{1} << 63)));
}
Value same(Context&, Args args) { return std::move(args[0]); }

Value sign_integer(Context&, Args args) {
  return Value::integer((args[0].as_integer() > 0) - (args[0].as_integer() < 0));
}
Value sign_unsigned(Context&, Args args) { return Value::unsigned_integer(args[0].as_unsigned() > 0 ? 1 : 0); }
Value sign_number(Context&, Args args) {
  const double value = args[0].as_number();
  return Value::number(value > 0 ? 1 : value < 0 ? -1 : value);
}

Value is_nan(Context&, Args args) { return Value::boolean(args[0].as_number() != args[0].as_number()); }
Value is_inf(Context&, Args args) {
  return Value::boolean(args[0].as_number() == args[0].as_number() && !is_finite(args[0].as_number()));
}
Value is_finite_number(Context&, Args args) { return Value::boolean(is_finite(args[0].as_number())); }

Value square_root(Context&, Args args) { return Value::number(__builtin_sqrt(args[0].to_double())); }

template <class Combine>
Value bits(Args args, Combine combine) {
  if (args[0].is(Kind::integer)) {
    return Value::integer(static_cast<std::int64_t>(
        combine(static_cast<std::uint64_t>(args[0].as_integer()), static_cast<std::uint64_t>(args[1].as_integer()))));
  }
  return Value::unsigned_integer(combine(args[0].as_unsigned(), args[1].as_unsigned()));
}
Value bit_and(Context&, Args args) {
  return bits(args, [](std::uint64_t a, std::uint64_t b) { return a & b; });
}
Value bit_or(Context&, Args args) {
  return bits(args, [](std::uint64_t a, std::uint64_t b) { return a | b; });
}
Value bit_xor(Context&, Args args) {
  return bits(args, [](std::uint64_t a, std::uint64_t b) { return a ^ b; });
}
Value bit_not(Context&, Args args) {
  if (args[0].is(Kind::integer)) return Value::integer(~args[0].as_integer());
  return Value::unsigned_integer(~args[0].as_unsigned());
}

template <class Shift>
Value shifted(Context& context, Args args, Shift shift) {
  const std::int64_t by = args[1].as_integer();
  if (by < 0) return context.fail("invalid_argument", "a shift by a negative number");
  const bool is_signed = args[0].is(Kind::integer);
  const std::uint64_t value = is_signed ? static_cast<std::uint64_t>(args[0].as_integer()) : args[0].as_unsigned();
  const std::uint64_t result = by >= 64 ? 0 : shift(value, by);
  return is_signed ? Value::integer(static_cast<std::int64_t>(result)) : Value::unsigned_integer(result);
}
Value shift_left(Context& context, Args args) {
  return shifted(context, args, [](std::uint64_t value, std::int64_t by) { return value << by; });
}
Value shift_right(Context& context, Args args) {
  return shifted(context, args, [](std::uint64_t value, std::int64_t by) { return value >> by; });
}

const Overload math_overloads[] = {
    {"math.greatest(list(T)) -> dyn", greatest, "The greatest number of a list.", "math.greatest([1, 3, 2])", "3"},
    {"math.greatest(int...) -> int", greatest, "The greatest of the numbers.", "math.greatest(1, 3, 2)", "3"},
    {"math.greatest(uint...) -> uint", greatest, "The greatest of the numbers.", "math.greatest(1u, 3u)", "3u"},
    {"math.greatest(double...) -> double", greatest, "The greatest of the numbers.", "math.greatest(1.5, 2.5)", "2.5"},
    {"math.greatest(dyn...) -> dyn", greatest, "The greatest of numbers of any kind.", "math.greatest(1, 2.5)", "2.5"},
    {"math.least(list(T)) -> dyn", least, "The least number of a list.", "math.least([1, 3, 2])", "1"},
    {"math.least(int...) -> int", least, "The least of the numbers.", "math.least(1, 3, 2)", "1"},
    {"math.least(uint...) -> uint", least, "The least of the numbers.", "math.least(1u, 3u)", "1u"},
    {"math.least(double...) -> double", least, "The least of the numbers.", "math.least(1.5, 2.5)", "1.5"},
    {"math.least(dyn...) -> dyn", least, "The least of numbers of any kind.", "math.least(1, 2.5)", "1"},
    {"math.ceil(double) -> double", ceil, "The next whole number upwards.", "math.ceil(1.2)", "2.0"},
    {"math.floor(double) -> double", floor, "The next whole number downwards.", "math.floor(-1.2)", "-2.0"},
    {"math.round(double) -> double", round, "The nearest whole number, halves away from zero.", "math.round(1.5)",
     "2.0"},
    {"math.trunc(double) -> double", trunc, "Without the fraction.", "math.trunc(-1.7)", "-1.0"},
    {"math.abs(int) -> int", abs_integer, "The absolute value.", "math.abs(-3)", "3"},
    {"math.abs(uint) -> uint", same, "The absolute value.", "math.abs(3u)", "3u"},
    {"math.abs(double) -> double", abs_number, "The absolute value.", "math.abs(-1.5)", "1.5"},
    {"math.sign(int) -> int", sign_integer, "-1, 0 or 1.", "math.sign(-3)", "-1"},
    {"math.sign(uint) -> uint", sign_unsigned, "0 or 1.", "math.sign(3u)", "1u"},
    {"math.sign(double) -> double", sign_number, "-1, 0 or 1.", "math.sign(-3.5)", "-1.0"},
    {"math.sqrt(int) -> double", square_root, "The square root, correctly rounded; NaN of a negative number.",
     "math.sqrt(9)", "3.0"},
    {"math.sqrt(uint) -> double", square_root, "The square root, correctly rounded.", "math.sqrt(9u)", "3.0"},
    {"math.sqrt(double) -> double", square_root, "The square root, correctly rounded; NaN of a negative number.",
     "math.sqrt(2.25)", "1.5"},
    {"math.isNaN(double) -> bool", is_nan, "Whether it is not a number.", "math.isNaN(0.0 / 0.0)", "true"},
    {"math.isInf(double) -> bool", is_inf, "Whether it is infinite.", "math.isInf(1.0 / 0.0)", "true"},
    {"math.isFinite(double) -> bool", is_finite_number, "Whether it is neither infinite nor NaN.", "math.isFinite(1.5)",
     "true"},
    {"math.bitAnd(int, int) -> int", bit_and, "The bits that both have.", "math.bitAnd(6, 3)", "2"},
    {"math.bitAnd(uint, uint) -> uint", bit_and, "The bits that both have.", "math.bitAnd(6u, 3u)", "2u"},
    {"math.bitOr(int, int) -> int", bit_or, "The bits that either has.", "math.bitOr(6, 3)", "7"},
    {"math.bitOr(uint, uint) -> uint", bit_or, "The bits that either has.", "math.bitOr(6u, 3u)", "7u"},
    {"math.bitXor(int, int) -> int", bit_xor, "The bits that only one has.", "math.bitXor(6, 3)", "5"},
    {"math.bitXor(uint, uint) -> uint", bit_xor, "The bits that only one has.", "math.bitXor(6u, 3u)", "5u"},
    {"math.bitNot(int) -> int", bit_not, "Every bit turned.", "math.bitNot(1)", "-2"},
    {"math.bitNot(uint) -> uint", bit_not, "Every bit turned.", "math.bitNot(0u)", "18446744073709551615u"},
    {"math.bitShiftLeft(int, int) -> int", shift_left, "Bits moved towards the high end.", "math.bitShiftLeft(1, 4)",
     "16"},
    {"math.bitShiftLeft(uint, int) -> uint", shift_left, "Bits moved towards the high end.", "math.bitShiftLeft(1u, 4)",
     "16u"},
    {"math.bitShiftRight(int, int) -> int", shift_right, "Bits moved towards the low end, zeros come in.",
     "math.bitShiftRight(16, 4)", "1"},
    {"math.bitShiftRight(uint, int) -> uint", shift_right, "Bits moved towards the low end, zeros come in.",
     "math.bitShiftRight(16u, 4)", "1u"},
};

}  // namespace

Library library_math() { return {"math", math_overloads}; }

}  // namespace cairn::expr
