#include <algorithm>

#include "expr/value.h"

namespace cairn::expr {

namespace {

template <class T>
int order(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

int compare_unsigned_exactly(std::uint64_t a, double b) {
  if (b >= 18446744073709551616.0) return -1;
  if (b < 0) return 1;
  const auto whole = static_cast<std::uint64_t>(b);
  if (a != whole) return a < whole ? -1 : 1;
  const double rest = b - static_cast<double>(whole);
  return rest > 0 ? -1 : 0;
}

int compare_mixed(std::int64_t a, std::uint64_t b) { return a < 0 ? -1 : order(static_cast<std::uint64_t>(a), b); }

int compare_doubles(double a, double b) { return a < b ? -1 : a > b ? 1 : 0; }

// Compares numbers of any two kinds; empty with NaN. An integer is converted to the nearest double, as CEL defines.
// Keys are compared exactly, because they need one order for all three kinds.
std::optional<int> compare_numbers(const Value& a, const Value& b, bool exactly) {
  using Kind = Value::Kind;
  if (a.is(Kind::number) || b.is(Kind::number)) {
    const double left = a.to_double();
    const double right = b.to_double();
    if (left != left || right != right) return std::nullopt;
    if (!exactly || a.kind() == b.kind()) return compare_doubles(left, right);
    if (a.is(Kind::integer)) return compare_exactly(a.as_integer(), right);
    if (b.is(Kind::integer)) return -compare_exactly(b.as_integer(), left);
    return a.is(Kind::number) ? -compare_unsigned_exactly(b.as_unsigned(), left)
                              : compare_unsigned_exactly(a.as_unsigned(), right);
  }
  if (a.is(Kind::integer)) {
    return b.is(Kind::integer) ? order(a.as_integer(), b.as_integer()) : compare_mixed(a.as_integer(), b.as_unsigned());
  }
  return b.is(Kind::integer) ? -compare_mixed(b.as_integer(), a.as_unsigned())
                             : order(a.as_unsigned(), b.as_unsigned());
}

int text_order(std::string_view a, std::string_view b) {
  const int result = a.compare(b);
  return result < 0 ? -1 : result > 0 ? 1 : 0;
}

bool equal_lists(const Value& a, const Value& b, Equality& equality) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!equal(a.item(i), b.item(i), equality)) return false;
  }
  return true;
}

// Both are sorted by key, so equal maps have equal keys at equal positions.
bool equal_maps(const Value& a, const Value& b, Equality& equality) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (compare_keys(a.key(i), b.key(i)) != 0 || !equal(a.value(i), b.value(i), equality)) return false;
  }
  return true;
}

}  // namespace

// Values may share the same part many times at no cost, but a comparison takes a step each time. Past this bound the
// answer does not matter, because it exceeds every budget.
constexpr std::uint64_t equality_work_max = 1'000'000;
constexpr std::uint64_t beyond_any_budget = std::uint64_t{1} << 62;

bool equal(const Value& a, const Value& b) {
  Equality equality;
  return equal(a, b, equality);
}

bool equal(const Value& a, const Value& b, Equality& equality) {
  using Kind = Value::Kind;
  if (++equality.work > equality_work_max) {
    equality.work = beyond_any_budget;
    return false;
  }
  if (a.is_number() && b.is_number()) {
    const auto result = compare_numbers(a, b, false);
    return result && *result == 0;
  }
  if ((a.is(Kind::decimal) && b.is(Kind::number)) || (a.is(Kind::number) && b.is(Kind::decimal))) {
    equality.mixed = true;
    return false;
  }
  if (a.is(Kind::decimal) || a.is(Kind::opaque)) return a.as_opaque().equals(b);
  if (b.is(Kind::decimal) || b.is(Kind::opaque)) return b.as_opaque().equals(a);
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Kind::null: return true;
    case Kind::boolean: return a.as_bool() == b.as_bool();
    case Kind::string:
    case Kind::bytes: {
      const std::string_view left = a.as_text();
      const std::string_view right = b.as_text();
      if (left.size() != right.size()) return false;
      equality.work += left.size() / 16;
      return left == right;
    }
    case Kind::list: return equal_lists(a, b, equality);
    case Kind::map: return equal_maps(a, b, equality);
    case Kind::timestamp: return a.as_timestamp() == b.as_timestamp();
    case Kind::duration: return a.as_duration() == b.as_duration();
    case Kind::type: return a.as_type() == b.as_type();
    case Kind::optional:
      if (!a.has_value() || !b.has_value()) return a.has_value() == b.has_value();
      return equal(a.optional_value(), b.optional_value(), equality);
    case Kind::integer:
    case Kind::unsigned_integer:
    case Kind::number:
    case Kind::decimal:
    case Kind::opaque:
    case Kind::error: break;
  }
  return false;
}

std::optional<int> compare(const Value& a, const Value& b) {
  using Kind = Value::Kind;
  if (a.is_number() && b.is_number()) return compare_numbers(a, b, false);
  if (a.is(Kind::decimal) || a.is(Kind::opaque)) return a.as_opaque().compare(b);
  if (b.is(Kind::decimal) || b.is(Kind::opaque)) {
    const auto turned = b.as_opaque().compare(a);
    if (!turned) return std::nullopt;
    return -*turned;
  }
  if (a.kind() != b.kind()) return std::nullopt;
  switch (a.kind()) {
    case Kind::boolean: return static_cast<int>(a.as_bool()) - static_cast<int>(b.as_bool());
    case Kind::string:
    case Kind::bytes: return text_order(a.as_text(), b.as_text());
    case Kind::timestamp: return order(a.as_timestamp(), b.as_timestamp());
    case Kind::duration: return order(a.as_duration(), b.as_duration());
    case Kind::null:
    case Kind::integer:
    case Kind::unsigned_integer:
    case Kind::number:
    case Kind::list:
    case Kind::map:
    case Kind::type:
    case Kind::optional:
    case Kind::decimal:
    case Kind::opaque:
    case Kind::error: break;
  }
  return std::nullopt;
}

bool is_key(const Value& value) noexcept {
  switch (value.kind()) {
    case Value::Kind::boolean:
    case Value::Kind::integer:
    case Value::Kind::unsigned_integer:
    case Value::Kind::string: return true;
    default: return false;
  }
}

int compare_keys(const Value& a, const Value& b) noexcept {
  const auto rank = [](const Value& key) { return key.is(Value::Kind::boolean) ? 0 : key.is_number() ? 1 : 2; };
  if (rank(a) != rank(b)) return order(rank(a), rank(b));
  if (rank(a) == 0) return static_cast<int>(a.as_bool()) - static_cast<int>(b.as_bool());
  if (rank(a) == 1) return compare_numbers(a, b, true).value_or(1);
  return text_order(a.as_text(), b.as_text());
}

}  // namespace cairn::expr
