#include <algorithm>
#include <set>

#include "expr/function.h"
#include "expr/operators.h"

namespace cairn::expr {

namespace {

using Kind = Value::Kind;

// Items by key: keys in map order, items in list order.
struct Group {
  Value key;
  Value::List items;
};

bool collect_groups(Context& context, const Value& list, const Value& keys, std::vector<Group>& groups) {
  std::vector<std::pair<Value, std::size_t>> order;
  order.reserve(keys.size());
  std::uint64_t rounds = 1;
  while (keys.size() >> rounds) ++rounds;
  if (!context.spend_steps(keys.size() * rounds)) return false;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    order.emplace_back(keys.item(i), i);
    if (!is_key(order.back().first)) {
      context.fail("no_such_overload",
                   "a key is a string, int, uint or bool, found " + std::string(describe(order.back().first.kind())));
      return false;
    }
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return compare_keys(a.first, b.first) < 0; });
  for (const auto& [key, place] : order) {
    if (groups.empty() || compare_keys(groups.back().key, key) != 0) groups.push_back({key, {}});
    groups.back().items.push_back(list.item(place));
  }
  return true;
}

Value group_by(Context& context, std::span<Value> args) {
  std::vector<Group> groups;
  if (!collect_groups(context, args[0], args[1], groups)) return context.error();
  Value::Entries entries;
  entries.reserve(groups.size());
  for (Group& group : groups) {
    Value items = context.list(std::move(group.items));
    if (context.failed()) return context.error();
    entries.push_back({std::move(group.key), std::move(items)});
  }
  return context.map(std::move(entries));
}

Value count_by(Context& context, std::span<Value> args) {
  std::vector<Group> groups;
  if (!collect_groups(context, args[0], args[1], groups)) return context.error();
  Value::Entries entries;
  entries.reserve(groups.size());
  for (Group& group : groups) {
    entries.push_back({std::move(group.key), Value::integer(static_cast<std::int64_t>(group.items.size()))});
  }
  return context.map(std::move(entries));
}

Value index_by(Context& context, std::span<Value> args) {
  if (!context.spend_steps(args[0].size())) return context.error();
  Value::Entries entries;
  entries.reserve(args[0].size());
  for (std::size_t i = 0; i < args[0].size(); ++i) entries.push_back({args[1].item(i), args[0].item(i)});
  return context.map(std::move(entries));
}

Value distinct_by(Context& context, std::span<Value> args) {
  const auto before = [](const Value& a, const Value& b) { return compare_keys(a, b) < 0; };
  std::set<Value, decltype(before)> seen_in_order(before);
  Value::List seen;  // keys of kinds without a total order, searched linearly
  Value::List items;
  std::uint64_t rounds = 1;
  while (args[1].size() >> rounds) ++rounds;
  for (std::size_t i = 0; i < args[1].size(); ++i) {
    const Value key = args[1].item(i);
    bool fresh = true;
    if (is_key(key) || (key.is(Kind::number) && key.as_number() == key.as_number())) {
      if (!context.spend_steps(rounds)) return context.error();
      fresh = seen_in_order.insert(key).second;
    } else {
      for (std::size_t j = 0; j < seen.size() && fresh; ++j) {
        Equality equality;
        fresh = !equal(seen[j], key, equality);
        if (!context.spend_steps(equality.work)) return context.error();
        if (equality.mixed) return no_equality(context, "distinctBy");
      }
      if (fresh) seen.push_back(key);
    }
    if (fresh) items.push_back(args[0].item(i));
  }
  return context.list(std::move(items));
}

Value zip(Context& context, std::span<Value> args) {
  if (args[0].size() != args[1].size()) {
    return context.fail("invalid_argument", "the lists have " + std::to_string(args[0].size()) + " and " +
                                                std::to_string(args[1].size()) + " items; zip needs as many in both");
  }
  if (!context.spend_steps(args[0].size())) return context.error();
  Value::List pairs;
  pairs.reserve(args[0].size());
  for (std::size_t i = 0; i < args[0].size(); ++i) {
    pairs.push_back(context.list({args[0].item(i), args[1].item(i)}));
    if (context.failed()) return context.error();
  }
  return context.list(std::move(pairs));
}

Value chunk(Context& context, std::span<Value> args) {
  const std::int64_t size = args[1].as_integer();
  if (size < 1) return context.fail("invalid_argument", "chunks have at least one item");
  const Value& list = args[0];
  if (!context.spend_steps(list.size())) return context.error();
  Value::List chunks;
  Value::List items;
  for (std::size_t i = 0; i < list.size(); ++i) {
    items.push_back(list.item(i));
    if (static_cast<std::int64_t>(items.size()) < size && i + 1 < list.size()) continue;
    chunks.push_back(context.list(std::exchange(items, {})));
    if (context.failed()) return context.error();
  }
  return context.list(std::move(chunks));
}

// Both maps are sorted, so one pass merges them.
template <class Both>
Value merge_maps(Context& context, const Value& a, const Value& b, Both both) {
  if (!context.spend_steps(a.size() + b.size())) return context.error();
  Value::Entries entries;
  entries.reserve(a.size() + b.size());
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() || j < b.size()) {
    const int order = i == a.size() ? 1 : j == b.size() ? -1 : compare_keys(a.key(i), b.key(j));
    if (order < 0) {
      entries.push_back({a.key(i), a.value(i)});
    } else if (order > 0) {
      entries.push_back({b.key(j), b.value(j)});
    } else {
      entries.push_back({b.key(j), both(a.value(i), b.value(j))});
      if (context.failed()) return context.error();
    }
    if (order <= 0) ++i;
    if (order >= 0) ++j;
  }
  return context.map(std::move(entries));
}

Value merge(Context& context, std::span<Value> args) {
  return merge_maps(context, args[0], args[1], [](const Value&, Value right) { return right; });
}

Value merge_at_depth(Context& context, const Value& a, const Value& b, int depth) {
  if (depth > 128) return context.fail("limit", "the maps are nested deeper than 128 levels");
  return merge_maps(context, a, b, [&](const Value& left, Value right) {
    return left.is(Kind::map) && right.is(Kind::map) ? merge_at_depth(context, left, right, depth + 1) : right;
  });
}
Value merge_deep(Context& context, std::span<Value> args) { return merge_at_depth(context, args[0], args[1], 1); }

Value keys(Context& context, std::span<Value> args) {
  if (!context.spend_steps(args[0].size())) return context.error();
  Value::List items;
  items.reserve(args[0].size());
  for (std::size_t i = 0; i < args[0].size(); ++i) items.push_back(args[0].key(i));
  return context.list(std::move(items));
}

Value values(Context& context, std::span<Value> args) {
  if (!context.spend_steps(args[0].size())) return context.error();
  Value::List items;
  items.reserve(args[0].size());
  for (std::size_t i = 0; i < args[0].size(); ++i) items.push_back(args[0].value(i));
  return context.list(std::move(items));
}

Value entries(Context& context, std::span<Value> args) {
  if (!context.spend_steps(args[0].size())) return context.error();
  Value::List items;
  items.reserve(args[0].size());
  for (std::size_t i = 0; i < args[0].size(); ++i) {
    items.push_back(context.map({{Value::text("key"), args[0].key(i)}, {Value::text("value"), args[0].value(i)}}));
    if (context.failed()) return context.error();
  }
  return context.list(std::move(items));
}

// Accepts {"key": k, "value": v} or [k, v].
std::optional<Value::Entry> read_entry(const Value& item) {
  if (item.is(Kind::list) && item.size() == 2) return Value::Entry{item.item(0), item.item(1)};
  if (!item.is(Kind::map)) return std::nullopt;
  auto key = item.find("key");
  auto value = item.find("value");
  if (!key || !value) return std::nullopt;
  return Value::Entry{*std::move(key), *std::move(value)};
}

Value from_entries(Context& context, std::span<Value> args) {
  if (!context.spend_steps(args[0].size())) return context.error();
  Value::Entries made;
  made.reserve(args[0].size());
  for (std::size_t i = 0; i < args[0].size(); ++i) {
    auto entry = read_entry(args[0].item(i));
    if (!entry) {
      return context.fail("invalid_argument",
                          "item " + std::to_string(i) + " is neither {\"key\": …, \"value\": …} nor a list of two");
    }
    made.push_back(*std::move(entry));
  }
  return context.map(std::move(made));
}

template <bool wanted>
Value select_keys(Context& context, std::span<Value> args) {
  const Value& map = args[0];
  Value::List names;
  names.reserve(args[1].size());
  for (std::size_t i = 0; i < args[1].size(); ++i) {
    names.push_back(args[1].item(i));
    if (!is_key(names.back())) {
      return context.fail("no_such_overload",
                          "a key is a string, int, uint or bool, found " + std::string(describe(names.back().kind())));
    }
  }
  const auto before = [](const Value& a, const Value& b) { return compare_keys(a, b) < 0; };
  if (!context.spend_steps((map.size() + names.size()) * 4)) return context.error();
  std::sort(names.begin(), names.end(), before);
  Value::Entries kept;
  for (std::size_t i = 0; i < map.size(); ++i) {
    if (std::binary_search(names.begin(), names.end(), map.key(i), before) == wanted) {
      kept.push_back({map.key(i), map.value(i)});
    }
  }
  return context.map(std::move(kept));
}

constexpr Overload collections_overloads[] = {
    {"list(T).groupBy(item, expression) -> map(dyn, list(T))", group_by,
     "The items by what the expression gives for them, each group in the order of the list.",
     "[1, 2, 3, 4].groupBy(n, n % 2)", "{0: [2, 4], 1: [1, 3]}", true},
    {"list(T).countBy(item, expression) -> map(dyn, int)", count_by,
     "How many items there are for each value of the expression.", R"(["a", "bb", "cc"].countBy(s, size(s)))",
     "{1: 1, 2: 2}", true},
    {"list(T).indexBy(item, expression) -> map(dyn, T)", index_by,
     "The items by a key that each has for itself; the same key twice is an error.",
     R"([{"id": "a"}, {"id": "b"}].indexBy(x, x.id).b)", R"({"id": "b"})", true},
    {"list(T).distinctBy(item, expression) -> list(T)", distinct_by, "The first item for each value of the expression.",
     "[1, 2, 3, 4].distinctBy(n, n % 2)", "[1, 2]", true},
    {"list(A).zip(list(B)) -> list(list(dyn))", zip,
     "Pairs of the items at the same place of two lists of the same length.", R"([1, 2].zip(["a", "b"]))",
     R"([[1, "a"], [2, "b"]])"},
    {"list(T).chunk(int) -> list(list(T))", chunk, "The list in pieces of so many items; the last one may be shorter.",
     "[1, 2, 3, 4, 5].chunk(2)", "[[1, 2], [3, 4], [5]]"},
    {"map(K, A).merge(map(K, B)) -> map(K, dyn)", merge, "The entries of both maps; of equal keys those of the second.",
     R"({"a": 1, "b": 2}.merge({"b": 3}))", R"({"a": 1, "b": 3})"},
    {"map(K, A).mergeDeep(map(K, B)) -> map(K, dyn)", merge_deep,
     "As merge, but where both have a map under the same key these are merged too.",
     R"({"a": {"x": 1, "y": 2}}.mergeDeep({"a": {"y": 3}}))", R"({"a": {"x": 1, "y": 3}})"},
    {"map(K, V).keys() -> list(K)", keys, "The keys in order.", R"({"b": 1, "a": 2}.keys())", R"(["a", "b"])"},
    {"map(K, V).values() -> list(V)", values, "The values in the order of their keys.", R"({"b": 1, "a": 2}.values())",
     "[2, 1]"},
    {"map(K, V).entries() -> list(map(string, dyn))", entries, "The entries in the order of their keys.",
     R"({"a": 1}.entries())", R"([{"key": "a", "value": 1}])"},
    {"list(dyn).fromEntries() -> map(dyn, dyn)", from_entries,
     "A map from entries as entries() gives them, or from lists of key and value.",
     R"([["a", 1], {"key": "b", "value": 2}].fromEntries())", R"({"a": 1, "b": 2})"},
    {"map(K, V).pick(list(K)) -> map(K, V)", select_keys<true>,
     "Only the entries with these keys, those of them that exist.", R"({"a": 1, "b": 2}.pick(["a", "c"]))",
     R"({"a": 1})"},
    {"map(K, V).omit(list(K)) -> map(K, V)", select_keys<false>, "All entries but those with these keys.",
     R"({"a": 1, "b": 2}.omit(["a"]))", R"({"b": 2})"},
};

}  // namespace

Library library_collections() { return {"collections", collections_overloads}; }

}  // namespace cairn::expr
