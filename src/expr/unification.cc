#include "expr/unification.h"

namespace cairn::expr {

namespace {

bool is_numeric_kind(Type::Kind kind) {
  return kind == Type::Kind::integer || kind == Type::Kind::unsigned_integer || kind == Type::Kind::number ||
         kind == Type::Kind::numeric;
}

bool may_be_null(Type::Kind kind) {
  return kind == Type::Kind::optional || kind == Type::Kind::opaque || kind == Type::Kind::timestamp ||
         kind == Type::Kind::duration;
}

Type same_with(const Type& type, std::vector<Type> parameters) {
  switch (type.kind()) {
    case Type::Kind::list: return Type::list(std::move(parameters[0]));
    case Type::Kind::map: return Type::map(std::move(parameters[0]), std::move(parameters[1]));
    case Type::Kind::type: return Type::type(std::move(parameters[0]));
    case Type::Kind::optional: return Type::optional(std::move(parameters[0]));
    case Type::Kind::opaque: return Type::opaque(type.name(), std::move(parameters));
    default: return type;
  }
}

}  // namespace

Type Unification::fresh() {
  bindings_.emplace_back();
  return Type::variable(static_cast<std::uint32_t>(bindings_.size() - 1));
}

std::uint32_t Unification::fresh_many(std::uint32_t count) {
  const auto base = static_cast<std::uint32_t>(bindings_.size());
  bindings_.resize(bindings_.size() + count);
  return base;
}

Type Unification::shifted(const Type& type, std::uint32_t base) const {
  if (type.is(Type::Kind::variable)) return Type::variable(type.variable_number() + base);
  if (type.parameter_count() == 0 || type.has_members()) return type;
  std::vector<Type> parameters;
  parameters.reserve(type.parameter_count());
  for (std::size_t i = 0; i < type.parameter_count(); ++i) parameters.push_back(shifted(type.parameter(i), base));
  return same_with(type, std::move(parameters));
}

Type Unification::resolved(const Type& type) const {
  Type current = type;
  while (current.is(Type::Kind::variable) && bindings_[current.variable_number()]) {
    current = *bindings_[current.variable_number()];
  }
  return current;
}

bool Unification::occurs(std::uint32_t variable, const Type& type) const {
  const Type current = resolved(type);
  if (current.is(Type::Kind::variable)) return current.variable_number() == variable;
  for (std::size_t i = 0; i < current.parameter_count(); ++i) {
    if (occurs(variable, current.parameter(i))) return true;
  }
  return false;
}

void Unification::bind(std::uint32_t variable, const Type& type) {
  bindings_[variable] = occurs(variable, type) ? Type::dyn() : type;
  trail_.push_back(variable);
}

void Unification::rewind(std::size_t mark) {
  while (trail_.size() > mark) {
    bindings_[trail_.back()].reset();
    trail_.pop_back();
  }
}

bool Unification::fits(const Type& expected, const Type& actual) {
  const Type a = resolved(expected);
  const Type b = resolved(actual);
  if (a.is(Type::Kind::variable)) {
    if (b.is(Type::Kind::variable) && b.variable_number() == a.variable_number()) return true;
    bind(a.variable_number(), b);
    return true;
  }
  if (b.is(Type::Kind::variable)) {
    bind(b.variable_number(), a);
    return true;
  }
  if (a.is_dyn() || b.is_dyn()) return true;
  if (a.kind() != b.kind()) {
    if (a.is(Type::Kind::numeric) || b.is(Type::Kind::numeric)) {
      return is_numeric_kind(a.kind()) && is_numeric_kind(b.kind());
    }
    return b.is(Type::Kind::null) && may_be_null(a.kind());
  }
  if (a.is(Type::Kind::type)) return true;
  if (a.is(Type::Kind::opaque) && (a.name() != b.name() || a.parameter_count() != b.parameter_count())) return false;
  for (std::size_t i = 0; i < a.parameter_count(); ++i) {
    if (!fits(a.parameter(i), b.parameter(i))) return false;
  }
  return true;
}

Type Unification::join(const Type& first, const Type& second) {
  const Type a = resolved(first);
  const Type b = resolved(second);
  if (a.is(Type::Kind::variable) || b.is(Type::Kind::variable)) {
    fits(a, b);
    return a.is(Type::Kind::variable) ? b : a;
  }
  if (a.is_dyn() || b.is_dyn()) return Type::dyn();
  if (a.kind() != b.kind()) {
    if (a.is(Type::Kind::null) && may_be_null(b.kind())) return b;
    if (b.is(Type::Kind::null) && may_be_null(a.kind())) return a;
    if (is_numeric_kind(a.kind()) && is_numeric_kind(b.kind()) &&
        (a.is(Type::Kind::numeric) || b.is(Type::Kind::numeric))) {
      return Type::numeric();
    }
    return Type::dyn();
  }
  if (a == b) return a;
  if (a.is(Type::Kind::opaque) && (a.name() != b.name() || a.parameter_count() != b.parameter_count()))
    return Type::dyn();
  std::vector<Type> parameters;
  for (std::size_t i = 0; i < a.parameter_count(); ++i) parameters.push_back(join(a.parameter(i), b.parameter(i)));
  if (parameters.empty()) return a;
  return same_with(a, std::move(parameters));
}

Type Unification::rebuilt(const Type& type, bool finish) const {
  const Type current = resolved(type);
  if (current.is(Type::Kind::variable)) return finish ? Type::dyn() : current;
  if (current.parameter_count() == 0 || current.has_members()) return current;
  std::vector<Type> parameters;
  parameters.reserve(current.parameter_count());
  for (std::size_t i = 0; i < current.parameter_count(); ++i)
    parameters.push_back(rebuilt(current.parameter(i), finish));
  return same_with(current, std::move(parameters));
}

Type Unification::substituted(const Type& type) const { return rebuilt(type, false); }
Type Unification::finished(const Type& type) const { return rebuilt(type, true); }

}  // namespace cairn::expr
