#include <algorithm>

#include "expr/type.h"

namespace cairn::expr {

namespace {

constexpr int schema_depth_max = 32;

Type deduce(const Json& schema, int depth);

Type deduce_object(const Json& schema, int depth) {
  std::vector<Type::Member> members;
  const Json& required = schema["required"];
  const auto is_required = [&](std::string_view name) {
    return required.is_array() && std::any_of(required.items().begin(), required.items().end(), [&](const Json& item) {
             return item.is_string() && item.as_string() == name;
           });
  };
  if (const Json& properties = schema["properties"]; properties.is_object()) {
    for (const auto& [name, property] : properties.members()) {
      members.push_back({name.str(), deduce(property, depth + 1), is_required(name.view())});
    }
  }
  const Json& additional = schema["additionalProperties"];
  const bool patterns = schema.find("patternProperties") != nullptr;  // `additionalProperties` does not describe these
  if (members.empty() && additional.is_object() && !patterns) {
    return Type::map(Type::string(), deduce(additional, depth + 1));
  }
  // These keywords may add members, so an unlisted name is not an error.
  const bool open =
      patterns || schema.find("allOf") || schema.find("anyOf") || schema.find("oneOf") || schema.find("$ref");
  return Type::object(std::move(members), additional.is_bool() && !additional.as_bool() && !open);
}

Type deduce(const Json& schema, int depth) {
  if (!schema.is_object() || depth > schema_depth_max) return Type::dyn();
  const Json& type = schema["type"];
  if (!type.is_string()) return Type::dyn();
  const std::string_view name = type.as_string();
  if (name == "object") return deduce_object(schema, depth);
  // With `prefixItems`, `items` describes only the rest, so one element type for all would be wrong.
  if (name == "array") {
    return Type::list(schema.find("prefixItems") ? Type::dyn() : deduce(schema["items"], depth + 1));
  }
  if (name == "string") return Type::string();
  // JSON Schema treats 1.0 as an integer, but it is a double here. So neither kind is guaranteed.
  if (name == "integer" || name == "number") return Type::numeric();
  if (name == "boolean") return Type::boolean();
  if (name == "null") return Type::null();
  return Type::dyn();
}

}  // namespace

Type Type::from_schema(const Json& schema) { return deduce(schema, 0); }

}  // namespace cairn::expr
