// The lists extension.
#include <algorithm>

#include "expr/function.h"
#include "expr/operators.h"

namespace cairn::expr {

namespace {

using Args = std::span<Value>;

Value::List items_of(const Value& list) {
  Value::List items;
  items.reserve(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) items.push_back(list.item(i));
  return items;
}

Value slice(Context& context, Args args) {
  const auto size = static_cast<std::int64_t>(args[0].size());
  const std::int64_t begin = args[1].as_integer();
  const std::int64_t end = args[2].as_integer();
  if (begin < 0 || end < begin || end > size) {
    return context.fail("index_out_of_range", "the list has " + std::to_string(size) + " items, so no part from " +
                                                  std::to_string(begin) + " to " + std::to_string(end));
  }
  if (!context.spend_steps(static_cast<std::uint64_t>(end - begin))) return context.error();
  Value::List items;
  items.reserve(static_cast<std::size_t>(end - begin));
  for (std::int64_t i = begin; i < end; ++i) items.push_back(args[0].item(static_cast<std::size_t>(i)));
  return context.list(std::move(items));
}

bool flatten_into(Context& context, const Value& list, std::int64_t depth, Value::List& items) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    Value item = list.item(i);
    if (!context.spend_steps(1)) return false;
    if (item.is(Value::Kind::list) && depth > 0) {
      if (!flatten_into(context, item, depth - 1, items)) return false;
    } else {
      if (!context.spend_bytes(sizeof(Value))) return false;
      items.push_back(std::move(item));
    }
  }
  return true;
}

Value flatten(Context& context, Args args) {
  const std::int64_t depth = args.size() > 1 ? args[1].as_integer() : 1;
  if (depth < 0) return context.fail("invalid_argument", "the depth of flatten is negative");
  Value::List items;
  if (!flatten_into(context, args[0], std::min<std::int64_t>(depth, 512), items)) return context.error();
  return context.list(std::move(items));
}

Value distinct(Context& context, Args args) {
  Value::List kept;
  for (std::size_t i = 0; i < args[0].size(); ++i) {
    Value item = args[0].item(i);
    Equality equality{.work = 1};
    const bool known =
        std::any_of(kept.begin(), kept.end(), [&](const Value& other) { return equal(item, other, equality); });
    if (!context.spend_steps(equality.work)) return context.error();
    if (!known && equality.mixed) return no_equality(context, "distinct");
    if (!known) kept.push_back(std::move(item));
  }
  return context.list(std::move(kept));
}

Value reverse_list(Context& context, Args args) {
  if (!context.spend_steps(args[0].size())) return context.error();
  Value::List items = items_of(args[0]);
  std::reverse(items.begin(), items.end());
  return context.list(std::move(items));
}

// Sorts `items` by `keys`; equal keys keep their order.
Value sorted_by(Context& context, const Value& items, const Value& keys) {
  const std::size_t size = items.size();
  std::uint64_t rounds = 1;
  while (size >> rounds) ++rounds;
  if (!context.spend_steps(size * rounds) || !context.spend_bytes(size * (2 * sizeof(Value) + sizeof(std::size_t)))) {
    return context.error();
  }
  const Value::List held = items_of(keys);
  for (std::size_t i = 0; i < size; ++i) {
    const auto order = compare(held[i], held[0]);
    const bool scalar = !held[i].is(Value::Kind::list) && !held[i].is(Value::Kind::map);
    if (!order || !scalar) {
      return context.fail("no_such_overload", "cannot sort " + std::string(describe(held[i].kind())) + " and " +
                                                  std::string(describe(held[0].kind())) + " together");
    }
  }
  std::vector<std::size_t> places(size);
  for (std::size_t i = 0; i < size; ++i) places[i] = i;
  std::stable_sort(places.begin(), places.end(),
                   [&](std::size_t a, std::size_t b) { return compare(held[a], held[b]).value_or(0) < 0; });
  Value::List sorted;
  sorted.reserve(size);
  for (const std::size_t place : places) sorted.push_back(items.item(place));
  return context.list(std::move(sorted));
}
Value sort(Context& context, Args args) { return sorted_by(context, args[0], args[0]); }
Value sort_by(Context& context, Args args) { return sorted_by(context, args[0], args[1]); }

Value range(Context& context, Args args) {
  const std::int64_t count = args[0].as_integer();
  if (count < 0) return context.fail("invalid_argument", "lists.range needs a number that is not negative");
  if (!context.spend_steps(static_cast<std::uint64_t>(count)) ||
      !context.spend_bytes(static_cast<std::uint64_t>(count) * sizeof(Value))) {
    return context.error();
  }
  Value::List items;
  items.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) items.push_back(Value::integer(i));
  return Value::list(std::move(items));
}

Value first(Context& context, Args args) { return args[0].size() == 0 ? Value::none() : context.some(args[0].item(0)); }
Value last(Context& context, Args args) {
  return args[0].size() == 0 ? Value::none() : context.some(args[0].item(args[0].size() - 1));
}

const Overload lists_overloads[] = {
    {"list(T).slice(int, int) -> list(T)", slice, "The items from one position up to before another.",
     "[1, 2, 3].slice(1, 3)", "[2, 3]"},
    {"list(T).flatten() -> list(dyn)", flatten, "Lists inside the list replaced by their items, one level.",
     "[1, [2, [3]]].flatten()", "[1, 2, [3]]"},
    {"list(T).flatten(int) -> list(dyn)", flatten, "The same for that many levels.", "[1, [2, [3]]].flatten(2)",
     "[1, 2, 3]"},
    {"list(T).distinct() -> list(T)", distinct, "Each value once, where it came first.", "[1, 2, 1].distinct()",
     "[1, 2]"},
    {"list(T).reverse() -> list(T)", reverse_list, "The items in the opposite order.", "[1, 2, 3].reverse()",
     "[3, 2, 1]"},
    {"list(T).sort() -> list(T)", sort, "Sorted upwards; items must be comparable with each other.", "[3, 1, 2].sort()",
     "[1, 2, 3]"},
    {"list(T).sortBy(item, expression) -> list(T)", sort_by,
     "Sorted by what an expression gives for each item; equal ones keep their order.",
     "[{\"n\": 2}, {\"n\": 1}].sortBy(x, x.n)", "[{\"n\": 1}, {\"n\": 2}]", true},
    {"list(T).first() -> optional_type(T)", first, "The first item, absent when the list is empty.",
     "[1, 2].first().value()", "1"},
    {"list(T).last() -> optional_type(T)", last, "The last item, absent when the list is empty.",
     "[1, 2].last().value()", "2"},
    {"lists.range(int) -> list(int)", range, "The numbers from 0 up to before a number.", "lists.range(3)",
     "[0, 1, 2]"},
};

}  // namespace

Library library_lists() { return {"lists", lists_overloads}; }

}  // namespace cairn::expr
