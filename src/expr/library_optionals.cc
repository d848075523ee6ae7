// The functions for values that may be absent. `a.?b`, `a[?i]`, `optMap` and `optFlatMap` are syntax and not defined
// here.
#include "expr/function.h"

namespace cairn::expr {

namespace {

using Args = std::span<Value>;

bool is_zero(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::null: return true;
    case Value::Kind::boolean: return !value.as_bool();
    case Value::Kind::integer: return value.as_integer() == 0;
    case Value::Kind::unsigned_integer: return value.as_unsigned() == 0;
    case Value::Kind::number: return value.as_number() == 0;
    case Value::Kind::string:
    case Value::Kind::bytes: return value.as_text().empty();
    case Value::Kind::list:
    case Value::Kind::map: return value.size() == 0;
    case Value::Kind::duration: return value.as_duration().zero();
    case Value::Kind::timestamp: return value.as_timestamp() == Timestamp{};
    case Value::Kind::optional: return !value.has_value();
    case Value::Kind::decimal: return equal(value, Value::integer(0));
    case Value::Kind::type:
    case Value::Kind::opaque:
    case Value::Kind::error: break;
  }
  return false;
}

Value of(Context& context, Args args) { return context.some(std::move(args[0])); }
Value of_non_zero(Context& context, Args args) {
  return is_zero(args[0]) ? Value::none() : context.some(std::move(args[0]));
}
Value none(Context&, Args) { return Value::none(); }
Value has_value(Context&, Args args) { return Value::boolean(args[0].has_value()); }
Value value(Context& context, Args args) {
  if (!args[0].has_value())
    return context.fail("invalid_argument", "the optional is absent; give a default with .orValue(…)");
  return args[0].optional_value();
}
Value either(Context&, Args args) { return args[0].has_value() ? std::move(args[0]) : std::move(args[1]); }
Value or_value(Context&, Args args) { return args[0].has_value() ? args[0].optional_value() : std::move(args[1]); }

Value unwrap(Context& context, Args args) {
  const std::size_t size = args[0].size();
  if (!context.spend_steps(size)) return context.error();
  Value::List items;
  for (std::size_t i = 0; i < size; ++i) {
    const Value item = args[0].item(i);
    if (!item.is(Value::Kind::optional)) return context.fail("no_such_overload", "unwrap needs a list of optionals");
    if (item.has_value()) items.push_back(item.optional_value());
  }
  return context.list(std::move(items));
}

const Overload optionals_overloads[] = {
    {"optional.of(T) -> optional_type(T)", of, "An optional that is present.", "optional.of(1).hasValue()", "true"},
    {"optional.ofNonZeroValue(T) -> optional_type(T)", of_non_zero,
     "Absent for null, false, 0, empty text and empty containers.", "optional.ofNonZeroValue(\"\").hasValue()",
     "false"},
    {"optional.none() -> optional_type(T)", none, "An optional that is absent.", "optional.none().hasValue()", "false"},
    {"optional_type(T).hasValue() -> bool", has_value, "Whether the value is present.", "{\"a\": 1}.?a.hasValue()",
     "true"},
    {"optional_type(T).value() -> T", value, "The value; absent it is an error.", "{\"a\": 1}.?a.value()", "1"},
    {"optional_type(T).or(optional_type(T)) -> optional_type(T)", either,
     "This optional, or the other one when it is absent.", "{}.?a.or(optional.of(2)).value()", "2"},
    {"optional_type(T).orValue(T) -> T", or_value, "The value, or a default when it is absent.",
     "{\"a\": 1}.?b.orValue(0)", "0"},
    {"optional.unwrap(list(optional_type(T))) -> list(T)", unwrap, "The values that are present.",
     "optional.unwrap([optional.of(1), optional.none()])", "[1]"},
    {"list(optional_type(T)).unwrapOpt() -> list(T)", unwrap, "The values that are present.",
     "[optional.of(1), optional.none()].unwrapOpt()", "[1]"},
};

}  // namespace

Library library_optionals() { return {"optionals", optionals_overloads}; }

}  // namespace cairn::expr
