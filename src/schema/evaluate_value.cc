#include <algorithm>
#include <cmath>

#include "base/utf8.h"
#include "schema/evaluation.h"
#include "schema/value_order.h"

namespace cairn::schema {
namespace {

// A measured ratio: handling 64 bytes costs as much as one empty rule.
constexpr std::size_t bytes_per_step = 64;
constexpr std::uint64_t search_cost = 8;
constexpr std::size_t few_values = 8;

bool is_allowed_type(const Rule& rule, const Json& data) {
  if ((rule.first & kind_bit(data.kind())) != 0) return true;
  return rule.count == 1 && data.kind() == Json::Kind::number && std::trunc(data.as_double()) == data.as_double();
}

bool is_one_of(const std::vector<Json>& sorted, const Json& data) {
  if (sorted.size() <= few_values) {
    return std::any_of(sorted.begin(), sorted.end(), [&](const Json& value) { return same_value(value, data); });
  }
  return std::binary_search(sorted.begin(), sorted.end(), data,
                            [](const Json& a, const Json& b) { return compare_values(a, b) < 0; });
}

// A text of n bytes has between n/4 and n code points. Often that answers the question without counting.
bool has_at_least(std::string_view text, std::uint64_t code_points) {
  if (text.size() < code_points) return false;
  return (text.size() + 3) / 4 >= code_points || count_code_points(text) >= code_points;
}
bool has_at_most(std::string_view text, std::uint64_t code_points) {
  return text.size() <= code_points || count_code_points(text) <= code_points;
}

bool has_names(const Json& data, const Text* names, std::uint64_t count) {
  if (data.size() < count) return false;
  return std::all_of(names, names + count, [&](const Text& name) { return data.find(name) != nullptr; });
}

}  // namespace

bool Evaluation::value_holds(const Rule& rule, const Json& data) {
  switch (rule.op) {
    case Op::never: return false;
    case Op::type: return is_allowed_type(rule, data);
    case Op::constant:
      if (data.size() > 0) spend(rule.count);
      return same_value(compiled_.values[rule.first], data);
    case Op::one_of_values:
      if (data.size() > 0) spend(rule.count);
      return is_one_of(compiled_.enums[rule.first].sorted, data);
    case Op::minimum: return compare_values(data, compiled_.values[rule.first]) >= 0;
    case Op::maximum: return compare_values(data, compiled_.values[rule.first]) <= 0;
    case Op::exclusive_minimum: return compare_values(data, compiled_.values[rule.first]) > 0;
    case Op::exclusive_maximum: return compare_values(data, compiled_.values[rule.first]) < 0;
    case Op::multiple_of: return is_multiple(decimal_of(data), compiled_.units[rule.count]);
    case Op::min_length:
      spend(data.as_string().size() / bytes_per_step);
      return has_at_least(data.as_string(), rule.count);
    case Op::max_length:
      spend(data.as_string().size() / bytes_per_step);
      return has_at_most(data.as_string(), rule.count);
    case Op::min_items:
    case Op::min_properties: return data.size() >= rule.count;
    case Op::max_items:
    case Op::max_properties: return data.size() <= rule.count;
    case Op::required:
      spend(rule.count * search_cost);
      return has_names(data, compiled_.names.data() + rule.first, rule.count);
    case Op::dependent_required: {
      const Text* names = compiled_.names.data() + rule.first;
      if (!data.find(*names)) return true;
      spend(rule.count * search_cost);
      return has_names(data, names + 1, rule.count);
    }
    case Op::pattern:
      spend(data.as_string().size() / bytes_per_step);
      return compiled_.patterns[rule.first].matches(data.as_string());
    case Op::format:
      spend(data.as_string().size() / bytes_per_step);
      return compiled_.formats[rule.first]->accepts(data.as_string());
    case Op::unique_items:
      if (data.size() < 2) return true;
      spend(count_values(data, 1u << 20) * search_cost);
      return !find_repeated(data.items());
    default: return true;
  }
}

}  // namespace cairn::schema
