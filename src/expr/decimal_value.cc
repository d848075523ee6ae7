#include "expr/decimal_value.h"

namespace cairn::expr {

namespace {

class HeldDecimal final : public Opaque {
 public:
  explicit HeldDecimal(Decimal value) : value_(std::move(value)) {}

  const Decimal& value() const { return value_; }
  std::string_view type_name() const override { return "decimal"; }
  bool equals(const Value& other) const override {
    const auto number = to_decimal(other);
    return number && value_ == *number;
  }
  std::optional<int> compare(const Value& other) const override {
    const auto number = to_decimal(other);
    if (!number) return std::nullopt;
    const auto order = value_ <=> *number;
    return order < 0 ? -1 : order > 0 ? 1 : 0;
  }
  std::string text() const override { return value_.text(); }
  std::size_t bytes() const override { return sizeof *this + value_.limbs() * sizeof(std::uint32_t); }

 private:
  Decimal value_;
};

Value report(Context& context, const Error& error) {
  return context.fail(error.code == ErrorCode::limit ? "overflow" : "invalid_argument", error.message);
}

}  // namespace

const Decimal& as_decimal(const Value& value) { return static_cast<const HeldDecimal&>(value.as_opaque()).value(); }

std::optional<Decimal> to_decimal(const Value& value) {
  if (value.is(Value::Kind::decimal)) return as_decimal(value);
  if (value.is(Value::Kind::integer)) return Decimal::of(value.as_integer());
  if (value.is(Value::Kind::unsigned_integer)) return Decimal::of(value.as_unsigned());
  return std::nullopt;
}

Value decimal_value(Decimal value) {
  return Value::opaque(Value::Kind::decimal, std::make_unique<const HeldDecimal>(std::move(value)));
}

Value decimal_value(Context& context, Decimal value) {
  return context.opaque(Value::Kind::decimal, std::make_unique<const HeldDecimal>(std::move(value)));
}

Value decimal_value(Context& context, Result<Decimal> value) {
  if (!value.has_value()) return report(context, value.error());
  return decimal_value(context, *std::move(value));
}

}  // namespace cairn::expr
