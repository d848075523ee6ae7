#include "expr/decimal_value.h"

namespace cairn::expr {

namespace {

constexpr std::int64_t parts_max = 10'000;

// The cost of schoolbook multiplication and division is the product of both lengths.
bool spend(Context& context, const Decimal& a, const Decimal& b) {
  return context.spend_steps(1 + a.limbs() * b.limbs() / 16);
}

template <class Operation>
Value combine(Context& context, std::span<Value> args, Operation operation) {
  const auto a = to_decimal(args[0]);
  const auto b = to_decimal(args[1]);
  if (!spend(context, *a, *b)) return context.error();
  return operation(*a, *b);
}

Value sum_decimals(Context& context, std::span<Value> args) {
  return combine(context, args, [&](const Decimal& a, const Decimal& b) { return decimal_value(context, a + b); });
}
Value difference(Context& context, std::span<Value> args) {
  return combine(context, args, [&](const Decimal& a, const Decimal& b) { return decimal_value(context, a - b); });
}
Value product(Context& context, std::span<Value> args) {
  return combine(context, args, [&](const Decimal& a, const Decimal& b) { return decimal_value(context, a * b); });
}
Value quotient(Context& context, std::span<Value> args) {
  return combine(context, args, [&](const Decimal& a, const Decimal& b) {
    if (b.is_zero()) return context.fail("divide_by_zero", "a decimal is divided by zero");
    return decimal_value(context, a.divided_by(b));
  });
}
Value remainder(Context& context, std::span<Value> args) {
  return combine(context, args, [&](const Decimal& a, const Decimal& b) {
    if (b.is_zero()) return context.fail("divide_by_zero", "a decimal is divided by zero");
    return decimal_value(context, a.remainder(b));
  });
}
Value negative(Context& context, std::span<Value> args) { return decimal_value(context, -as_decimal(args[0])); }

Value from_text(Context& context, std::span<Value> args) {
  const std::string_view text = args[0].as_text();
  if (!context.spend_steps(1 + text.size() / 16)) return context.error();
  return decimal_value(context, Decimal::parse(text));
}

Value from_number(Context& context, std::span<Value> args) { return decimal_value(context, *to_decimal(args[0])); }

Value same_decimal(Context&, std::span<Value> args) { return args[0]; }

Value to_text(Context& context, std::span<Value> args) { return context.text(as_decimal(args[0]).text()); }

Value to_int(Context& context, std::span<Value> args) {
  const auto whole = as_decimal(args[0]).to_integer();
  if (!whole) return context.fail("overflow", as_decimal(args[0]).text() + " is beyond 64-bit integers");
  return Value::integer(*whole);
}

Value to_uint(Context& context, std::span<Value> args) {
  const auto whole = as_decimal(args[0]).to_unsigned_integer();
  if (!whole) return context.fail("overflow", as_decimal(args[0]).text() + " is beyond unsigned 64-bit integers");
  return Value::unsigned_integer(*whole);
}

Value to_number(Context& context, std::span<Value> args) {
  const double number = as_decimal(args[0]).to_double();
  if (number - number != 0) return context.fail("overflow", "the decimal is beyond the range of doubles");
  return Value::number(number);
}

Value round_with(Context& context, const Decimal& value, std::int64_t scale, std::string_view mode_name) {
  const auto mode = find_rounding(mode_name);
  if (!mode) {
    return context.fail("invalid_argument", "\"" + std::string(mode_name.substr(0, 40)) +
                                                "\" is no rounding mode; there are " + std::string(rounding_names));
  }
  if (!context.spend_steps(1 + value.limbs())) return context.error();
  return decimal_value(context, value.round(scale, *mode));
}

Value round_half_even(Context& context, std::span<Value> args) {
  return round_with(context, as_decimal(args[0]), args[1].as_integer(), "half_even");
}
Value round_by_mode(Context& context, std::span<Value> args) {
  return round_with(context, as_decimal(args[0]), args[1].as_integer(), args[2].as_text());
}

Value absolute(Context& context, std::span<Value> args) { return decimal_value(context, as_decimal(args[0]).abs()); }
Value sign(Context&, std::span<Value> args) { return Value::integer(as_decimal(args[0]).sign()); }
Value scale(Context&, std::span<Value> args) { return Value::integer(as_decimal(args[0]).scale()); }
Value precision(Context&, std::span<Value> args) { return Value::integer(as_decimal(args[0]).precision()); }
Value normalize(Context& context, std::span<Value> args) {
  return decimal_value(context, as_decimal(args[0]).normalized());
}
Value smaller(Context& context, std::span<Value> args) {
  const auto other = to_decimal(args[1]);
  return *other < as_decimal(args[0]) ? decimal_value(context, *other) : args[0];
}
Value larger(Context& context, std::span<Value> args) {
  const auto other = to_decimal(args[1]);
  return *other > as_decimal(args[0]) ? decimal_value(context, *other) : args[0];
}

Value percent(Context& context, std::span<Value> args) {
  const Decimal& value = as_decimal(args[0]);
  const auto rate = to_decimal(args[1]);
  if (!spend(context, value, *rate)) return context.error();
  auto hundredfold = value * *rate;
  if (!hundredfold.has_value()) return decimal_value(context, std::move(hundredfold));
  static const Decimal hundredth = *Decimal::parse("0.01");
  return decimal_value(context, *hundredfold * hundredth);
}

bool check_scale(Context& context, std::int64_t digits) {
  if (digits >= 0 && digits <= Decimal::digits_max) return true;
  context.fail("invalid_argument", "the scale is between 0 and " + std::to_string(Decimal::digits_max));
  return false;
}

Value amounts(Context& context, const Result<std::vector<Decimal>>& parts) {
  if (!parts.has_value()) return decimal_value(context, parts.error());
  Value::List items;
  items.reserve(parts->size());
  for (const Decimal& part : *parts) items.push_back(decimal_value(context, part));
  if (context.failed()) return context.error();
  return context.list(std::move(items));
}

Value allocate_equally(Context& context, std::span<Value> args) {
  const std::int64_t parts = args[1].as_integer();
  if (parts < 1 || parts > parts_max) {
    return context.fail("invalid_argument", "the number of parts is between 1 and " + std::to_string(parts_max));
  }
  const Decimal& total = as_decimal(args[0]);
  if (!check_scale(context, args[2].as_integer())) return context.error();
  if (!context.spend_steps(static_cast<std::uint64_t>(parts) * (2 + total.limbs() / 4))) return context.error();
  return amounts(context,
                 total.split(static_cast<std::uint32_t>(parts), static_cast<std::uint32_t>(args[2].as_integer())));
}

Value allocate_by_weights(Context& context, std::span<Value> args) {
  const Decimal& total = as_decimal(args[0]);
  if (!check_scale(context, args[2].as_integer())) return context.error();
  if (args[1].size() > static_cast<std::size_t>(parts_max)) {
    return context.fail("invalid_argument", "there are at most " + std::to_string(parts_max) + " weights");
  }
  std::vector<Decimal> weights;
  for (std::size_t i = 0; i < args[1].size(); ++i) {
    const Value item = args[1].item(i);
    auto weight = to_decimal(item);
    if (!weight) {
      return context.fail("no_such_overload",
                          "a weight is a decimal or a whole number, not a " + std::string(describe(item.kind())));
    }
    if (!context.spend_steps(2 + total.limbs() * weight->limbs() / 4)) return context.error();
    weights.push_back(*std::move(weight));
  }
  return amounts(context, total.allocate(weights, static_cast<std::uint32_t>(args[2].as_integer())));
}

constexpr Overload decimal_overloads[] = {
    {"_+_(decimal, decimal) -> decimal", sum_decimals, "Exact sum.", R"(decimal("0.1") + decimal("0.2"))",
     R"(decimal("0.3"))"},
    {"_+_(decimal, int) -> decimal", sum_decimals, "Exact sum.", R"(decimal("0.50") + 1)", R"(decimal("1.50"))"},
    {"_+_(int, decimal) -> decimal", sum_decimals, "Exact sum.", R"(1 + decimal("0.50"))", R"(decimal("1.50"))"},
    {"_-_(decimal, decimal) -> decimal", difference, "Exact difference.", R"(decimal("1.00") - decimal("0.9"))",
     R"(decimal("0.10"))"},
    {"_-_(decimal, int) -> decimal", difference, "Exact difference.", R"(decimal("0.50") - 1)", R"(decimal("-0.50"))"},
    {"_-_(int, decimal) -> decimal", difference, "Exact difference.", R"(1 - decimal("0.50"))", R"(decimal("0.50"))"},
    {"_*_(decimal, decimal) -> decimal", product, "Exact product.", R"(string(decimal("1.50") * decimal("2.50")))",
     R"("3.7500")"},
    {"_*_(decimal, int) -> decimal", product, "Exact product.", R"(decimal("19.99") * 3)", R"(decimal("59.97"))"},
    {"_*_(int, decimal) -> decimal", product, "Exact product.", R"(3 * decimal("19.99"))", R"(decimal("59.97"))"},
    {"_/_(decimal, decimal) -> decimal", quotient,
     "Quotient to 34 significant digits, half-even; exact ones keep their short form.",
     R"(decimal("1") / decimal("8"))", R"(decimal("0.125"))"},
    {"_/_(decimal, int) -> decimal", quotient,
     "Quotient to 34 significant digits, half-even; exact ones keep their short form.",
     R"(string(decimal("10.00") / 4))", R"("2.50")"},
    {"_/_(int, decimal) -> decimal", quotient,
     "Quotient to 34 significant digits, half-even; exact ones keep their short form.", R"(1 / decimal("3"))",
     R"(decimal("0.3333333333333333333333333333333333"))"},
    {"_%_(decimal, decimal) -> decimal", remainder,
     "What a division to a whole number leaves over, with the sign of the left side.",
     R"(decimal("7.5") % decimal("2"))", R"(decimal("1.5"))"},
    {"_%_(decimal, int) -> decimal", remainder,
     "What a division to a whole number leaves over, with the sign of the left side.", R"(decimal("-7.5") % 2)",
     R"(decimal("-1.5"))"},
    {"_%_(int, decimal) -> decimal", remainder,
     "What a division to a whole number leaves over, with the sign of the left side.", R"(7 % decimal("2.5"))",
     R"(decimal("2.0"))"},
    {"-_(decimal) -> decimal", negative, "The same amount with the other sign.", R"(-decimal("1.50"))",
     R"(decimal("-1.50"))"},
    {"decimal(string) -> decimal", from_text, "Reads plain decimal text, keeping its digits after the point.",
     R"(decimal("12.50"))", R"(decimal("12.50"))"},
    {"decimal(int) -> decimal", from_number, "The whole number as a decimal.", "decimal(7) / 2", R"(decimal("3.5"))"},
    {"decimal(uint) -> decimal", from_number, "The whole number as a decimal.", "decimal(7u)", R"(decimal("7"))"},
    {"decimal(decimal) -> decimal", same_decimal, "The same decimal.", R"(decimal(decimal("1.0")))",
     R"(decimal("1.0"))"},
    {"string(decimal) -> string", to_text, "The decimal as plain text with its scale.", R"(string(decimal("30.30")))",
     R"("30.30")"},
    {"int(decimal) -> int", to_int, "The whole part, rounded towards zero.", R"(int(decimal("-2.9")))", "-2"},
    {"uint(decimal) -> uint", to_uint, "The whole part, rounded towards zero.", R"(uint(decimal("2.9")))", "2u"},
    {"double(decimal) -> double", to_number, "The nearest double.", R"(double(decimal("0.10")))", "0.1"},
    {"decimal.round(int) -> decimal", round_half_even,
     "Rounded half-even to so many digits after the point; a larger number adds zeros, a negative one rounds before "
     "the point.",
     R"(decimal("2.345").round(2))", R"(decimal("2.34"))"},
    {"decimal.round(int, string) -> decimal", round_by_mode,
     "Rounded in the mode half_even, half_up, half_down, up, down, ceiling or floor.",
     R"(decimal("2.345").round(2, "half_up"))", R"(decimal("2.35"))"},
    {"decimal.abs() -> decimal", absolute, "Without its sign.", R"(decimal("-1.5").abs())", R"(decimal("1.5"))"},
    {"decimal.sign() -> int", sign, "-1, 0 or 1.", R"(decimal("-1.5").sign())", "-1"},
    {"decimal.scale() -> int", scale, "The number of digits after the point.", R"(decimal("1.50").scale())", "2"},
    {"decimal.precision() -> int", precision, "The number of digits without leading zeros.",
     R"(decimal("0.150").precision())", "3"},
    {"decimal.normalize() -> decimal", normalize, "Without zeros at the end of the fraction.",
     R"(string(decimal("1.500").normalize()))", R"("1.5")"},
    {"decimal.min(decimal) -> decimal", smaller, "The smaller of the two.", R"(decimal("1.5").min(decimal("2")))",
     R"(decimal("1.5"))"},
    {"decimal.min(int) -> decimal", smaller, "The smaller of the two.", R"(decimal("1.5").min(1))", R"(decimal("1"))"},
    {"decimal.max(decimal) -> decimal", larger, "The larger of the two.", R"(decimal("1.5").max(decimal("2")))",
     R"(decimal("2"))"},
    {"decimal.max(int) -> decimal", larger, "The larger of the two.", R"(decimal("-1.5").max(0))", R"(decimal("0"))"},
    {"decimal.percent(decimal) -> decimal", percent, "So many per cent of the amount, exactly.",
     R"(decimal("80.00").percent(decimal("7.5")).round(2))", R"(decimal("6.00"))"},
    {"decimal.percent(int) -> decimal", percent, "So many per cent of the amount, exactly.",
     R"(string(decimal("80.00").percent(19)))", R"("15.2000")"},
    {"decimal.allocate(int, int) -> list(decimal)", allocate_equally,
     "Splits the amount into so many parts of the given scale that add up to it exactly; the first ones get what is "
     "left over.",
     R"(decimal("100").allocate(3, 2).map(d, string(d)))", R"(["33.34", "33.33", "33.33"])"},
    {"decimal.allocate(list(dyn), int) -> list(decimal)", allocate_by_weights,
     "Splits the amount in proportion to the weights into parts of the given scale that add up to it exactly; the "
     "largest remainders get what is left over.",
     R"(decimal("10.00").allocate([1, 1, 4], 2).map(d, string(d)))", R"(["1.67", "1.67", "6.66"])"},
};

}  // namespace

Library library_decimal() { return {"decimal", decimal_overloads}; }

}  // namespace cairn::expr
