#include "expr/operators.h"

#include <limits>

#include "base/suggest.h"

namespace cairn::expr {

namespace {

using Kind = Value::Kind;

std::string kind_of(const Value& value) {
  if (value.is(Kind::opaque)) return std::string(value.as_opaque().type_name());
  return std::string(describe(value.kind()));
}

Value overflow(Context& context, std::string_view what) {
  return context.fail("overflow", std::string(what) + " leaves the range of 64 bits");
}

Value integers(Context& context, Operator op, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  switch (op) {
    case Operator::add:
      if (__builtin_add_overflow(a, b, &result)) return overflow(context, "the sum");
      break;
    case Operator::subtract:
      if (__builtin_sub_overflow(a, b, &result)) return overflow(context, "the difference");
      break;
    case Operator::multiply:
      if (__builtin_mul_overflow(a, b, &result)) return overflow(context, "the product");
      break;
    case Operator::divide:
      if (b == 0) return context.fail("divide_by_zero", "division by zero");
      if (b == -1 && a == std::numeric_limits<std::int64_t>::min()) return overflow(context, "the quotient");
      result = a / b;
      break;
    case Operator::modulo:
      if (b == 0) return context.fail("divide_by_zero", "modulus by zero");
      result = b == -1 ? 0 : a % b;
      break;
    default: break;
  }
  return Value::integer(result);
}

Value unsigned_integers(Context& context, Operator op, std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  switch (op) {
    case Operator::add:
      if (__builtin_add_overflow(a, b, &result)) return overflow(context, "the sum");
      break;
    case Operator::subtract:
      if (__builtin_sub_overflow(a, b, &result)) return overflow(context, "the difference of uints");
      break;
    case Operator::multiply:
      if (__builtin_mul_overflow(a, b, &result)) return overflow(context, "the product");
      break;
    case Operator::divide:
      if (b == 0) return context.fail("divide_by_zero", "division by zero");
      result = a / b;
      break;
    case Operator::modulo:
      if (b == 0) return context.fail("divide_by_zero", "modulus by zero");
      result = a % b;
      break;
    default: break;
  }
  return Value::unsigned_integer(result);
}

Value joined(Context& context, const Value& a, const Value& b) {
  const std::string_view left = a.as_text();
  const std::string_view right = b.as_text();
  if (!context.spend_steps((left.size() + right.size()) / 16)) return context.error();
  std::string both;
  both.reserve(left.size() + right.size());
  both.append(left).append(right);
  return a.is(Kind::string) ? context.text(both) : context.bytes(both);
}

Value concatenated(Context& context, const Value& a, const Value& b) {
  const std::size_t count = a.size() + b.size();
  if (!context.spend_steps(count) || !context.spend_bytes(count * sizeof(Value))) return context.error();
  Value::List items;
  items.reserve(count);
  for (std::size_t i = 0; i < a.size(); ++i) items.push_back(a.item(i));
  for (std::size_t i = 0; i < b.size(); ++i) items.push_back(b.item(i));
  return context.list(std::move(items));
}

Value checked(Context& context, std::optional<Timestamp> value) {
  if (!value) return context.fail("overflow", "the time is outside the years 1 to 9999");
  return Value::timestamp(*value);
}
Value checked(Context& context, std::optional<Duration> value) {
  if (!value || !in_range(*value)) return context.fail("overflow", "the duration is longer than 10000 years");
  return Value::duration(*value);
}

std::optional<Value> times(Context& context, Operator op, const Value& a, const Value& b) {
  if (op == Operator::add) {
    if (a.is(Kind::timestamp) && b.is(Kind::duration)) return checked(context, add(a.as_timestamp(), b.as_duration()));
    if (a.is(Kind::duration) && b.is(Kind::timestamp)) return checked(context, add(b.as_timestamp(), a.as_duration()));
    if (a.is(Kind::duration) && b.is(Kind::duration)) return checked(context, add(a.as_duration(), b.as_duration()));
  }
  if (op == Operator::subtract) {
    if (a.is(Kind::timestamp) && b.is(Kind::timestamp)) {
      return checked(context, std::optional(between(b.as_timestamp(), a.as_timestamp())));
    }
    if (b.is(Kind::duration)) {
      const auto turned = negate(b.as_duration());
      if (!turned) return checked(context, std::optional<Duration>());
      if (a.is(Kind::timestamp)) return checked(context, add(a.as_timestamp(), *turned));
      if (a.is(Kind::duration)) return checked(context, add(a.as_duration(), *turned));
    }
  }
  return std::nullopt;
}

std::string no_overload(Operator op, const Value& a, const Value& b) {
  return quote(operator_text(op)) + " cannot combine " + kind_of(a) + " and " + kind_of(b);
}

std::optional<std::size_t> whole_index(const Value& index) {
  if (index.is(Kind::integer)) {
    if (index.as_integer() < 0) return std::nullopt;
    return static_cast<std::size_t>(index.as_integer());
  }
  if (index.is(Kind::unsigned_integer)) return static_cast<std::size_t>(index.as_unsigned());
  const double value = index.as_number();
  if (!(value >= 0 && value < 9007199254740992.0)) return std::nullopt;
  const auto whole = static_cast<std::size_t>(value);
  if (static_cast<double>(whole) != value) return std::nullopt;
  return whole;
}

std::string shown(const Value& key) {
  switch (key.kind()) {
    case Kind::string: return std::string(key.as_text().substr(0, 64));
    case Kind::integer: return std::to_string(key.as_integer());
    case Kind::unsigned_integer: return std::to_string(key.as_unsigned());
    case Kind::boolean: return key.as_bool() ? "true" : "false";
    default: return kind_of(key);
  }
}

std::string no_such_key(const Value& container, const Value& key) {
  std::string message = "no such key " + quote(shown(key));
  const std::size_t size = container.size();
  if (size == 0) return message + "; the object is empty";
  std::vector<std::string> names;
  for (std::size_t i = 0; i < size && i < 50; ++i) names.push_back(shown(container.key(i)));
  if (size > 8) {
    if (const auto near = nearest_name(shown(key), names)) return message + "; did you mean " + quote(*near) + "?";
  }
  message += "; the object has ";
  for (std::size_t i = 0; i < names.size() && i < 8; ++i) message += (i > 0 ? ", " : "") + quote(names[i]);
  if (size > 8) message += " and " + std::to_string(size - 8) + " more";
  return message;
}

}  // namespace

bool in_range(Duration value) {
  const Duration longest = Duration::of_seconds(duration_seconds_max);
  return value >= *negate(longest) && value <= longest;
}

std::string_view operator_text(Operator op) {
  switch (op) {
    case Operator::add: return "+";
    case Operator::subtract: return "-";
    case Operator::multiply: return "*";
    case Operator::divide: return "/";
    case Operator::modulo: return "%";
    case Operator::equal: return "==";
    case Operator::unequal: return "!=";
    case Operator::less: return "<";
    case Operator::less_equal: return "<=";
    case Operator::greater: return ">";
    case Operator::greater_equal: return ">=";
  }
  return "";
}

std::string_view operator_function(Operator op) {
  switch (op) {
    case Operator::add: return "_+_";
    case Operator::subtract: return "_-_";
    case Operator::multiply: return "_*_";
    case Operator::divide: return "_/_";
    case Operator::modulo: return "_%_";
    default: return "";
  }
}

Value arithmetic(Context& context, Operator op, Value& a, Value& b) {
  if (a.is_number() && b.is_number()) {
    if (a.is(Kind::integer) && b.is(Kind::integer)) return integers(context, op, a.as_integer(), b.as_integer());
    if (a.is(Kind::unsigned_integer) && b.is(Kind::unsigned_integer)) {
      return unsigned_integers(context, op, a.as_unsigned(), b.as_unsigned());
    }
    const double left = a.to_double();
    const double right = b.to_double();
    switch (op) {
      case Operator::add: return Value::number(left + right);
      case Operator::subtract: return Value::number(left - right);
      case Operator::multiply: return Value::number(left * right);
      case Operator::divide: return Value::number(left / right);
      default:
        return context.fail("no_such_overload", no_overload(op, a, b) + "; `%` is for whole numbers of one kind");
    }
  }
  if (op == Operator::add && a.kind() == b.kind()) {
    if (a.is(Kind::string) || a.is(Kind::bytes)) return joined(context, a, b);
    if (a.is(Kind::list)) return concatenated(context, a, b);
  }
  if (auto result = times(context, op, a, b)) return std::move(*result);
  if (const Function* function = find_function(operator_function(op))) {
    for (const Signature& signature : function->signatures) {
      if ((signature.accepts[0] >> static_cast<unsigned>(a.kind()) & 1) &&
          (signature.accepts[1] >> static_cast<unsigned>(b.kind()) & 1)) {
        Value args[] = {std::move(a), std::move(b)};
        return signature.overload->run(context, {args, 2});
      }
    }
  }
  return context.fail("no_such_overload", no_overload(op, a, b));
}

Value negate(Context& context, Value& value) {
  switch (value.kind()) {
    case Kind::integer:
      if (value.as_integer() == std::numeric_limits<std::int64_t>::min()) return overflow(context, "the negative");
      return Value::integer(-value.as_integer());
    case Kind::number: return Value::number(-value.as_number());
    case Kind::duration: return checked(context, negate(value.as_duration()));
    default: break;
  }
  if (const Function* function = find_function("-_")) {
    for (const Signature& signature : function->signatures) {
      if (signature.accepts[0] >> static_cast<unsigned>(value.kind()) & 1) {
        Value args[] = {std::move(value)};
        return signature.overload->run(context, {args, 1});
      }
    }
  }
  return context.fail("no_such_overload", "`-` needs a number, found " + kind_of(value));
}

Value no_equality(Context& context, std::string_view what) {
  return context.fail("no_such_overload", std::string(what) + " cannot compare " +
                                              std::string(describe(Kind::decimal)) + " and " +
                                              std::string(describe(Kind::number)));
}

Value compare_values(Context& context, Operator op, const Value& a, const Value& b) {
  if (op == Operator::equal || op == Operator::unequal) {
    Equality equality;
    const bool same = equal(a, b, equality);
    if (!context.spend_steps(equality.work - 1)) return context.error();
    if (equality.mixed) return no_equality(context, quote(operator_text(op)));
    return Value::boolean(same == (op == Operator::equal));
  }
  const auto result = compare(a, b);
  if (!result) {
    if (a.is_number() && b.is_number()) return Value::boolean(false);  // NaN
    return context.fail("no_such_overload",
                        quote(operator_text(op)) + " cannot compare " + kind_of(a) + " and " + kind_of(b));
  }
  if (a.is(Kind::string) || a.is(Kind::bytes)) {
    if (!context.spend_steps(std::min(a.as_text().size(), b.as_text().size()) / 16)) return context.error();
  }
  switch (op) {
    case Operator::less: return Value::boolean(*result < 0);
    case Operator::less_equal: return Value::boolean(*result <= 0);
    case Operator::greater: return Value::boolean(*result > 0);
    default: return Value::boolean(*result >= 0);
  }
}

Value contains(Context& context, const Value& item, const Value& container) {
  if (container.is(Kind::list)) {
    Equality equality;
    const std::size_t size = container.size();
    bool found = false;
    for (std::size_t i = 0; i < size && !found; ++i) found = equal(item, container.item(i), equality);
    if (!context.spend_steps(equality.work)) return context.error();
    if (!found && equality.mixed) return no_equality(context, "`in`");
    return Value::boolean(found);
  }
  if (container.is(Kind::map)) return Value::boolean(container.contains(item));
  return context.fail("no_such_overload", "`in` looks into a list or a map, found " + kind_of(container));
}

Value index_into(Context& context, const Value& container, const Value& index, bool optional) {
  if (container.is(Kind::optional)) {
    if (!container.has_value()) return Value::none();
    return index_into(context, container.optional_value(), index, true);
  }
  if (container.is(Kind::list)) {
    if (!index.is_number()) {
      return context.fail("no_such_overload", "a list is indexed by an int, found " + kind_of(index));
    }
    const auto at = whole_index(index);
    if (at && *at < container.size()) return optional ? context.some(container.item(*at)) : container.item(*at);
    if (optional) return Value::none();
    return context.fail("index_out_of_range", "the list has " + std::to_string(container.size()) + " items, so no " +
                                                  (at ? "[" + std::to_string(*at) + "]" : "such index"));
  }
  if (container.is(Kind::map)) {
    auto found = container.find(index);
    if (found) return optional ? context.some(std::move(*found)) : std::move(*found);
    if (optional) return Value::none();
    return context.fail("no_such_key", no_such_key(container, index));
  }
  return context.fail("no_such_overload", with_article(kind_of(container)) + " cannot be indexed");
}

Value select_from(Context& context, const Value& container, std::string_view key, bool optional) {
  if (container.is(Kind::map)) {
    auto found = container.find(key);
    if (found) return optional ? context.some(std::move(*found)) : std::move(*found);
    if (optional) return Value::none();
    return context.fail("no_such_key", no_such_key(container, Value::text(key)));
  }
  if (container.is(Kind::optional)) {
    if (!container.has_value()) return Value::none();
    return select_from(context, container.optional_value(), key, true);
  }
  return context.fail(container.is(Kind::null) ? "no_such_key" : "no_such_overload",
                      with_article(kind_of(container)) + " has no members, so no " + quote(key));
}

Value has_member(Context& context, const Value& container, std::string_view key) {
  if (container.is(Kind::map)) return Value::boolean(container.contains(key));
  if (container.is(Kind::optional)) {
    if (!container.has_value()) return Value::boolean(false);
    return has_member(context, container.optional_value(), key);
  }
  return context.fail("no_such_overload", with_article(kind_of(container)) + " has no members, so no " + quote(key));
}

Value call_function(Context& context, const Function& function, std::span<Value> args, bool member) {
  for (const Signature& signature : function.signatures) {
    if (signature.member != member) continue;
    const std::size_t parameters = signature.parameters.size();
    if (signature.repeated ? args.size() < parameters : args.size() != parameters) continue;
    bool fits = true;
    for (std::size_t i = 0; i < args.size() && fits; ++i) {
      const std::uint32_t accepts = signature.accepts[std::min(i, parameters - 1)];
      fits = accepts >> static_cast<unsigned>(args[i].kind()) & 1;
      if (fits && args[i].is(Kind::opaque)) {
        const Type& type = signature.parameters[std::min(i, parameters - 1)];
        fits = !type.is(Type::Kind::opaque) || type.name() == args[i].as_opaque().type_name();
      }
    }
    if (fits && signature.overload) return signature.overload->run(context, args);
  }
  std::string found;
  for (std::size_t i = member ? 1 : 0; i < args.size(); ++i) found += (found.empty() ? "" : ", ") + kind_of(args[i]);
  std::string message = quote(function.name) + " cannot be called with (" + found + ")";
  if (member) message += " on " + with_article(kind_of(args[0]));
  return context.fail("no_such_overload", std::move(message));
}

}  // namespace cairn::expr
