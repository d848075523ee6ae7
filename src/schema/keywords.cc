#include "schema/keywords.h"

#include <algorithm>
#include <array>
#include <utility>

namespace cairn::schema {
namespace {

constexpr std::array<std::pair<std::string_view, Holds>, 19> keywords = {{
    {"$defs", Holds::map},
    {"additionalProperties", Holds::schema},
    {"allOf", Holds::list},
    {"anyOf", Holds::list},
    {"contains", Holds::schema},
    {"contentSchema", Holds::schema},
    {"dependentSchemas", Holds::map},
    {"else", Holds::schema},
    {"if", Holds::schema},
    {"items", Holds::schema},
    {"not", Holds::schema},
    {"oneOf", Holds::list},
    {"patternProperties", Holds::map},
    {"prefixItems", Holds::list},
    {"properties", Holds::map},
    {"propertyNames", Holds::schema},
    {"then", Holds::schema},
    {"unevaluatedItems", Holds::schema},
    {"unevaluatedProperties", Holds::schema},
}};
static_assert(std::is_sorted(keywords.begin(), keywords.end(),
                             [](const auto& a, const auto& b) { return a.first < b.first; }));

}  // namespace

Holds schemas_held_by(std::string_view keyword) {
  const auto it = std::lower_bound(keywords.begin(), keywords.end(), keyword,
                                   [](const auto& entry, std::string_view name) { return entry.first < name; });
  return it != keywords.end() && it->first == keyword ? it->second : Holds::nothing;
}

}  // namespace cairn::schema
