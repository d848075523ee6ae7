#include <algorithm>
#include <array>
#include <cmath>

#include "schema/compiler.h"
#include "schema/messages.h"
#include "schema/metaschema.h"
#include "schema/value_order.h"

namespace cairn::schema {
namespace {

constexpr std::uint8_t numbers = kind_bit(Json::Kind::integer) | kind_bit(Json::Kind::number);
constexpr std::uint8_t strings = kind_bit(Json::Kind::string);

constexpr std::size_t patterns_size_max = 500'000;
constexpr std::size_t comparison_cost_max = 1'000'000;

struct TypeName {
  std::string_view name;
  std::uint8_t kinds;
};
constexpr std::array<TypeName, 7> type_names = {{
    {"null", kind_bit(Json::Kind::null)},
    {"boolean", kind_bit(Json::Kind::boolean)},
    {"integer", kind_bit(Json::Kind::integer)},
    {"number", numbers},
    {"string", strings},
    {"array", arrays},
    {"object", objects},
}};

struct SizeBound {
  std::string_view keyword;
  Op op;
  std::uint8_t kinds;
};
constexpr std::array<SizeBound, 6> size_bounds = {{
    {"minLength", Op::min_length, strings},
    {"maxLength", Op::max_length, strings},
    {"minItems", Op::min_items, arrays},
    {"maxItems", Op::max_items, arrays},
    {"minProperties", Op::min_properties, objects},
    {"maxProperties", Op::max_properties, objects},
}};

}  // namespace

void Compiler::text_annotation(const Site& site) {
  if (!site.value.is_string()) fault(site, quoted(site.keyword) + " must be a string");
}

void Compiler::flag_annotation(const Site& site) {
  if (!site.value.is_bool()) fault(site, quoted(site.keyword) + " must be true or false");
}

void Compiler::list_annotation(const Site& site) {
  if (!site.value.is_array()) fault(site, quoted(site.keyword) + " must be an array");
}

void Compiler::dialect(const Site& site) {
  if (!site.value.is_string()) return fault(site, "`$schema` must be a string");
  std::string_view uri = site.value.as_string();
  if (uri.ends_with('#')) uri.remove_suffix(1);
  if (uri == metaschema_uri) return;
  fault(site, "only draft 2020-12 is supported: `$schema` must be " + std::string(metaschema_uri) + ", or absent");
}

void Compiler::vocabulary(const Site& site) {
  if (!site.value.is_object()) fault(site, "`$vocabulary` must be an object");
}

void Compiler::type(const Site& site) {
  std::uint8_t kinds = 0;
  const auto take = [&](const Json& name) {
    const auto known = std::find_if(type_names.begin(), type_names.end(), [&](const TypeName& entry) {
      return name.is_string() && entry.name == name.as_string();
    });
    if (known == type_names.end()) return false;
    kinds |= known->kinds;
    return true;
  };
  constexpr std::string_view expected = "null, boolean, integer, number, string, array, object";
  if (site.value.is_array()) {
    const auto& names = site.value.items();
    if (names.empty()) return fault(site, "`type` must name at least one type");
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!take(names[i])) return fault_below(site, std::to_string(i), "must be one of " + std::string(expected));
    }
  } else if (!take(site.value)) {
    return fault(site, "`type` must be one of " + std::string(expected) + ", or an array of them");
  }
  const bool whole_doubles = (kinds & numbers) == kind_bit(Json::Kind::integer);
  add(Op::type, any_kind, kinds, whole_doubles ? 1 : 0);
}

void Compiler::constant(const Site& site) {
  add(Op::constant, any_kind, keep(site.value), count_values(site.value, comparison_cost_max));
}

void Compiler::one_of_values(const Site& site) {
  if (!site.value.is_array()) return fault(site, "`enum` must be an array");
  EnumValues values{site.value.items(), keep(site.value)};
  std::sort(values.sorted.begin(), values.sorted.end(),
            [](const Json& a, const Json& b) { return compare_values(a, b) < 0; });
  std::size_t cost = 1;
  for (const Json& value : values.sorted) cost = std::max(cost, count_values(value, comparison_cost_max));
  add(Op::one_of_values, any_kind, static_cast<std::uint32_t>(compiled_->enums.size()), cost);
  compiled_->enums.push_back(std::move(values));
}

void Compiler::bound(const Site& site) {
  if (!site.value.is_number()) return fault(site, quoted(site.keyword) + " must be a number");
  const Op op = site.keyword == "minimum"            ? Op::minimum
                : site.keyword == "maximum"          ? Op::maximum
                : site.keyword == "exclusiveMinimum" ? Op::exclusive_minimum
                                                     : Op::exclusive_maximum;
  add(op, numbers, keep(site.value));
}

void Compiler::multiple_of(const Site& site) {
  if (!site.value.is_number() || site.value.as_double() <= 0) {
    return fault(site, "`multipleOf` must be a number above 0");
  }
  add(Op::multiple_of, numbers, keep(site.value), compiled_->units.size());
  compiled_->units.push_back(decimal_of(site.value));
}

std::optional<std::uint64_t> Compiler::count(const Site& site) {
  const Json& value = site.value;
  if (value.is_integer() && value.as_integer() >= 0) return static_cast<std::uint64_t>(value.as_integer());
  if (value.is_number() && value.as_double() >= 0 && value.as_double() == std::floor(value.as_double())) {
    constexpr double beyond = 9007199254740992.0;
    return static_cast<std::uint64_t>(std::min(value.as_double(), beyond));
  }
  fault(site, quoted(site.keyword) + " must be a whole number, 0 or more");
  return std::nullopt;
}

void Compiler::size_bound(const Site& site) {
  const auto bound = count(site);
  const auto known = std::find_if(size_bounds.begin(), size_bounds.end(),
                                  [&](const SizeBound& entry) { return entry.keyword == site.keyword; });
  // minContains and maxContains are checked here and used by `contains`.
  if (bound && known != size_bounds.end()) add(known->op, known->kinds, 0, *bound);
}

std::optional<std::uint32_t> Compiler::compiled_pattern(const Site& site, std::string_view text, bool is_name) {
  const auto kept = patterns_.emplace(text, static_cast<std::uint32_t>(compiled_->patterns.size()));
  if (!kept.second) return kept.first->second;
  const auto refuse = [&](std::string message) -> std::optional<std::uint32_t> {
    patterns_.erase(kept.first);
    is_name ? fault_below(site, text, std::move(message)) : fault(site, std::move(message));
    return std::nullopt;
  };
  if (patterns_size_ > patterns_size_max) return refuse("the patterns of this document are too large together");
  auto pattern = Pattern::compile(text);
  if (!pattern) return refuse(pattern.error());
  patterns_size_ += pattern->program_size();
  compiled_->patterns.push_back(std::move(pattern).value());
  return kept.first->second;
}

void Compiler::pattern(const Site& site) {
  if (!site.value.is_string()) return fault(site, "`pattern` must be a string");
  if (const auto index = compiled_pattern(site, site.value.as_string(), false)) add(Op::pattern, strings, *index);
}

void Compiler::format(const Site& site) {
  if (!site.value.is_string()) return fault(site, "`format` must be a string");
  const Format* known = find_format(site.value.as_string());
  if (!known || !options_.assert_formats) return;
  add(Op::format, strings, static_cast<std::uint32_t>(compiled_->formats.size()));
  compiled_->formats.push_back(known);
}

void Compiler::unique_items(const Site& site) {
  if (!site.value.is_bool()) return fault(site, "`uniqueItems` must be true or false");
  if (site.value.as_bool()) add(Op::unique_items, arrays, 0);
}

// Sorted, so that one pass finds them in the sorted members of an object.
bool Compiler::keep_names(const Site& site, const Json& names, std::string_view below) {
  const bool all_strings = names.is_array() && std::all_of(names.items().begin(), names.items().end(),
                                                           [](const Json& name) { return name.is_string(); });
  if (!all_strings) {
    std::string message = "must be an array of strings";
    below.data() ? fault_below(site, below, std::move(message)) : fault(site, quoted(site.keyword) + " " + message);
    return false;
  }
  std::vector<std::string_view> sorted;
  for (const Json& name : names.items()) sorted.push_back(name.as_string());
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  for (const std::string_view name : sorted) keep_name(name);
  return true;
}

void Compiler::required(const Site& site) {
  const std::size_t first = compiled_->names.size();
  if (!keep_names(site, site.value, {})) return;
  const std::size_t kept = compiled_->names.size() - first;
  if (kept > 0) add(Op::required, objects, static_cast<std::uint32_t>(first), kept);
}

void Compiler::dependent_required(const Site& site) {
  if (!is_map(site)) return;
  for (const Json::Member& member : site.value.members()) {
    const std::uint32_t first = keep_name(member.key);
    if (!keep_names(site, member.value, member.key)) continue;
    add(Op::dependent_required, objects, first, compiled_->names.size() - first - 1);
  }
}

}  // namespace cairn::schema
