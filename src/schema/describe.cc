#include <array>

#include "schema/evaluation.h"
#include "schema/messages.h"
#include "schema/value_order.h"

namespace cairn::schema {
namespace {

std::string allowed_types(const Rule& rule) {
  std::vector<std::string> names;
  for (const Json::Kind kind : {Json::Kind::object, Json::Kind::array, Json::Kind::string, Json::Kind::number,
                                Json::Kind::integer, Json::Kind::boolean, Json::Kind::null}) {
    const bool covered = kind == Json::Kind::integer && (rule.first & kind_bit(Json::Kind::number)) != 0;
    if ((rule.first & kind_bit(kind)) != 0 && !covered) names.push_back(kind_with_article(kind));
  }
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += i + 1 == names.size() ? " or " : ", ";
    out += names[i];
  }
  return out;
}

std::string value_list(const Json::Array& values) {
  constexpr std::size_t values_max = 12;
  std::string out;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i == values_max) return out + ", … (" + std::to_string(values.size()) + " values)";
    if (i > 0) out += ", ";
    out += shown(values[i]);
  }
  return out;
}

std::string repeated_items(const Json& data) {
  const auto repeated = find_repeated(data.items());
  if (!repeated) return "must not hold the same item twice";
  return "must not hold the same item twice, but items " + std::to_string(repeated->first) + " and " +
         std::to_string(repeated->second) + " are equal";
}

}  // namespace

void describe(const Compiled& compiled, const Rule& rule, const Json& data, std::vector<Violation>& out) {
  const auto say = [&out](std::string_view keyword, std::string message) {
    out.push_back({"", std::move(message), std::string(keyword)});
  };
  const auto value = [&] { return shown(compiled.values[rule.first]); };
  switch (rule.op) {
    case Op::never: return say("false", "is not allowed here");
    case Op::type: return say("type", "must be " + allowed_types(rule) + ", but is " + kind_with_article(data.kind()));
    case Op::constant: return say("const", "must be " + value());
    case Op::one_of_values: {
      const Json::Array& values = compiled.values[compiled.enums[rule.first].as_written].items();
      if (values.empty()) return say("enum", "cannot have any value, since `enum` is empty");
      return say("enum", (values.size() == 1 ? "must be " : "must be one of ") + value_list(values));
    }
    case Op::minimum: return say("minimum", "must be at least " + value());
    case Op::maximum: return say("maximum", "must be at most " + value());
    case Op::exclusive_minimum: return say("exclusiveMinimum", "must be more than " + value());
    case Op::exclusive_maximum: return say("exclusiveMaximum", "must be less than " + value());
    case Op::multiple_of: return say("multipleOf", "must be a multiple of " + value());
    case Op::min_length: return say("minLength", "must have at least " + counted(rule.count, "character"));
    case Op::max_length: return say("maxLength", "must have at most " + counted(rule.count, "character"));
    case Op::min_items: return say("minItems", "must have at least " + counted(rule.count, "item"));
    case Op::max_items: return say("maxItems", "must have at most " + counted(rule.count, "item"));
    case Op::min_properties: return say("minProperties", "must have at least " + counted(rule.count, "member"));
    case Op::max_properties: return say("maxProperties", "must have at most " + counted(rule.count, "member"));
    case Op::required:
      for (std::uint64_t i = 0; i < rule.count; ++i) {
        const Text& name = compiled.names[rule.first + i];
        if (!data.find(name)) say("required", "is missing the required member " + quoted(name));
      }
      return;
    case Op::dependent_required:
      for (std::uint64_t i = 1; i <= rule.count; ++i) {
        const Text& name = compiled.names[rule.first + i];
        if (data.find(name)) continue;
        say("dependentRequired", "is missing the member " + quoted(name) + ", which is required together with " +
                                     quoted(compiled.names[rule.first]));
      }
      return;
    case Op::pattern: return say("pattern", "must match the pattern " + quoted(compiled.patterns[rule.first].source()));
    case Op::format: return say("format", "must be " + std::string(compiled.formats[rule.first]->meaning));
    case Op::unique_items: return say("uniqueItems", repeated_items(data));
    default: return;
  }
}

}  // namespace cairn::schema
