#include "schema/value_order.h"

#include <algorithm>

namespace cairn::schema {
namespace {

int sign(bool less, bool greater) { return less ? -1 : greater ? 1 : 0; }

int rank(const Json& value) {
  return value.is_number() ? static_cast<int>(Json::Kind::integer) : static_cast<int>(value.kind());
}

int compare_numbers(const Json& a, const Json& b) noexcept {
  if (a.is_integer() && b.is_integer()) return sign(a.as_integer() < b.as_integer(), a.as_integer() > b.as_integer());
  if (a.is_integer()) return compare_exactly(a.as_integer(), b.as_double());
  if (b.is_integer()) return -compare_exactly(b.as_integer(), a.as_double());
  return sign(a.as_double() < b.as_double(), a.as_double() > b.as_double());
}

}  // namespace

int compare_values(const Json& a, const Json& b) noexcept {
  if (rank(a) != rank(b)) return rank(a) - rank(b);
  switch (a.kind()) {
    case Json::Kind::null: return 0;
    case Json::Kind::boolean: return static_cast<int>(a.as_bool()) - static_cast<int>(b.as_bool());
    case Json::Kind::integer:
    case Json::Kind::number: return compare_numbers(a, b);
    case Json::Kind::string: return a.as_string().compare(b.as_string());
    case Json::Kind::array: {
      if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
      for (std::size_t i = 0; i < a.size(); ++i) {
        if (const int order = compare_values(a.items()[i], b.items()[i])) return order;
      }
      return 0;
    }
    case Json::Kind::object: {
      if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
      for (std::size_t i = 0; i < a.size(); ++i) {
        const Json::Member& x = a.members()[i];
        const Json::Member& y = b.members()[i];
        if (const int order = x.key.view().compare(y.key.view())) return order;
        if (const int order = compare_values(x.value, y.value)) return order;
      }
      return 0;
    }
  }
  return 0;
}

std::size_t count_values(const Json& value, std::size_t enough) {
  if (value.size() == 0) return 1;
  std::vector<const Json*> pending{&value};
  std::size_t count = 0;
  while (!pending.empty() && count < enough) {
    const Json& next = *pending.back();
    pending.pop_back();
    ++count;
    if (next.is_array()) {
      for (const Json& item : next.items()) pending.push_back(&item);
    } else if (next.is_object()) {
      for (const Json::Member& member : next.members()) pending.push_back(&member.value);
    }
  }
  return count;
}

std::optional<std::pair<std::size_t, std::size_t>> find_repeated(const Json::Array& items) {
  constexpr std::size_t pairwise_max = 16;
  if (items.size() <= pairwise_max) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      for (std::size_t j = i + 1; j < items.size(); ++j) {
        if (compare_values(items[i], items[j]) == 0) return std::pair(i, j);
      }
    }
    return std::nullopt;
  }
  std::vector<const Json*> sorted;
  sorted.reserve(items.size());
  for (const Json& item : items) sorted.push_back(&item);
  std::sort(sorted.begin(), sorted.end(), [](const Json* a, const Json* b) {
    const int order = compare_values(*a, *b);
    return order != 0 ? order < 0 : a < b;
  });
  const auto repeated = std::adjacent_find(sorted.begin(), sorted.end(),
                                           [](const Json* a, const Json* b) { return compare_values(*a, *b) == 0; });
  if (repeated == sorted.end()) return std::nullopt;
  return std::pair(static_cast<std::size_t>(*repeated - items.data()),
                   static_cast<std::size_t>(*std::next(repeated) - items.data()));
}

}  // namespace cairn::schema
