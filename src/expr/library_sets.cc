// Lists as sets.
#include <algorithm>

#include "expr/function.h"
#include "expr/operators.h"

namespace cairn::expr {

namespace {

using Args = std::span<Value>;

bool is_in(Context& context, const Value& item, const Value& list, bool& found) {
  Equality equality{.work = 1};
  found = false;
  for (std::size_t i = 0; i < list.size() && !found; ++i) found = equal(item, list.item(i), equality);
  if (!context.spend_steps(equality.work)) return false;
  if (!found && equality.mixed) no_equality(context, "a set");
  return !context.failed();
}

// Whether `whole` has every item of `part`; also false if the budget is used up.
bool includes(Context& context, const Value& whole, const Value& part) {
  for (std::size_t i = 0; i < part.size(); ++i) {
    bool found = false;
    if (!is_in(context, part.item(i), whole, found) || !found) return false;
  }
  return true;
}

Value contains(Context& context, Args args) {
  const bool result = includes(context, args[0], args[1]);
  return context.failed() ? context.error() : Value::boolean(result);
}
Value equivalent(Context& context, Args args) {
  const bool result = includes(context, args[0], args[1]) && includes(context, args[1], args[0]);
  return context.failed() ? context.error() : Value::boolean(result);
}
Value intersects(Context& context, Args args) {
  for (std::size_t i = 0; i < args[0].size(); ++i) {
    bool found = false;
    if (!is_in(context, args[0].item(i), args[1], found)) return context.error();
    if (found) return Value::boolean(true);
  }
  return Value::boolean(false);
}

template <class Keep>
Value filtered(Context& context, const Value& from, Keep keep) {
  Value::List kept;
  for (std::size_t i = 0; i < from.size(); ++i) {
    Value item = from.item(i);
    bool wanted = false;
    if (!keep(item, wanted)) return context.error();
    if (wanted) kept.push_back(std::move(item));
  }
  return context.list(std::move(kept));
}

Value intersection(Context& context, Args args) {
  return filtered(context, args[0],
                  [&](const Value& item, bool& wanted) { return is_in(context, item, args[1], wanted); });
}
Value difference(Context& context, Args args) {
  return filtered(context, args[0], [&](const Value& item, bool& wanted) {
    const bool paid = is_in(context, item, args[1], wanted);
    wanted = !wanted;
    return paid;
  });
}

const Overload sets_overloads[] = {
    {"sets.contains(list(T), list(T)) -> bool", contains, "Whether the first list has every item of the second.",
     "sets.contains([1, 2, 3], [3, 1])", "true"},
    {"sets.equivalent(list(T), list(T)) -> bool", equivalent,
     "Whether both have the same items, in any order and number.", "sets.equivalent([1, 2], [2, 1, 1])", "true"},
    {"sets.intersects(list(T), list(T)) -> bool", intersects, "Whether they have an item in common.",
     "sets.intersects([1, 2], [2, 3])", "true"},
    {"sets.intersection(list(T), list(T)) -> list(T)", intersection,
     "The items of the first list that the second has too.", "sets.intersection([1, 2, 3], [3, 2])", "[2, 3]"},
    {"sets.difference(list(T), list(T)) -> list(T)", difference,
     "The items of the first list that the second does not have.", "sets.difference([1, 2, 3], [2])", "[1, 3]"},
};

}  // namespace

Library library_sets() { return {"sets", sets_overloads}; }

}  // namespace cairn::expr
