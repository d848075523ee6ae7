#include "definition/definition_schema.h"

#include <map>

#include "definition/document.h"
#include "definition/keys.h"
#include "definition/step_kinds.h"

namespace cairn {
namespace {

Json reference_to(std::string_view name) { return Json::object({{"$ref", "#/$defs/" + std::string(name)}}); }

Json any_of(Json::Array choices) { return Json::object({{"anyOf", Json(std::move(choices))}}); }

Json of_type(std::string_view type) { return Json::object({{"type", type}}); }

Json pattern(std::string_view expression) { return Json::object({{"type", "string"}, {"pattern", expression}}); }

Json name_pattern(std::string_view expression) {
  Json schema = pattern(expression);
  schema.set("maxLength", 200);
  return schema;
}

Json list_of(Json items, int min = 0) {
  Json schema = Json::object({{"type", "array"}, {"items", std::move(items)}});
  if (min > 0) schema.set("minItems", min);
  return schema;
}

Json texts(std::span<const std::string_view> names) {
  Json list = Json::array();
  for (const std::string_view name : names) list.push_back(name);
  return list;
}

// Schema definitions that no table describes.
Json::Members basic_definitions() {
  Json::Members all;
  all.emplace_back(
      "expression",
      any_of({Json::object(
                  {{"type", "string"}, {"pattern", "^="}, {"description", "A CEL expression; it begins with `=`."}}),
              Json::object({{"type", "object"},
                            {"required", Json::array({"$expr"})},
                            {"properties", Json::object({{"$expr", of_type("string")}})},
                            {"additionalProperties", false},
                            {"description", "An expression as the canonical form spells it."}})}));
  all.emplace_back(
      "condition",
      any_of({Json::object({{"type", "string"},
                            {"minLength", 1},
                            {"description", "An expression that is true or false; a leading `=` is optional."}}),
              of_type("boolean"), reference_to("expression")}));
  all.emplace_back("duration_literal",
                   pattern("^(([0-9]+w)?([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?|P.+)$"));
  all.emplace_back("duration", any_of({reference_to("duration_literal"), reference_to("expression")}));
  all.emplace_back("time",
                   any_of({pattern("^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}"), reference_to("expression")}));
  all.emplace_back("path", pattern("^[A-Za-z_][A-Za-z0-9_-]*(\\.[A-Za-z_][A-Za-z0-9_-]*)*$"));
  all.emplace_back("steps", list_of(reference_to("step")));
  return all;
}

class SchemaWriter {
 public:
  Json write() {
    Json document = object_schema(document_table, document_table.keys);
    document.set("$schema", "https://json-schema.org/draft/2020-12/schema");
    document.set("$id", "urn:cairn:definition:1");
    document.set("title", "cairn workflow definition");
    write_steps();
    for (Json::Member& member : basic_definitions()) definitions_.emplace(member.key.str(), std::move(member.value));
    Json definitions = Json::object();
    for (auto& [name, schema] : definitions_) definitions.set(name, std::move(schema));
    document.set("$defs", std::move(definitions));
    return document;
  }

 private:
  void write_steps() {
    Json kinds = Json::array();
    for (const StepKind& kind : step_kinds()) {
      std::vector<Key> keys(kind.keys.begin(), kind.keys.end());
      keys.insert(keys.end(), common_step_keys().begin(), common_step_keys().end());
      Json schema = object_schema({kind.name, keys}, keys);
      if (kind.name == "try") {
        schema.set("anyOf", Json::array({Json::object({{"required", Json::array({"catch"})}}),
                                         Json::object({{"required", Json::array({"finally"})}})}));
      }
      schema.edit("properties").set("type", Json::object({{"const", kind.name}}));
      schema.set("title", kind.name);
      schema.set("description", kind.about);
      const std::string name = "step_" + std::string(kind.name);
      definitions_[name] = std::move(schema);
      kinds.push_back(reference_to(name));
    }
    definitions_["step"] = Json::object({{"type", "object"}, {"oneOf", std::move(kinds)}});
  }

  Json object_schema(const KeyTable& table, std::span<const Key> keys) {
    Json properties = Json::object();
    Json required = Json::array();
    for (const Key& key : keys) {
      properties.set(key.name, described(key));
      if (key.required) required.push_back(key.name);
    }
    Json schema =
        Json::object({{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}});
    if (required.size() > 0) schema.set("required", std::move(required));
    if (!table.needs.empty()) {
      Json dependent = Json::object();
      for (const Need& need : table.needs) dependent.set(need.key, Json::array({Json(need.needed)}));
      schema.set("dependentRequired", std::move(dependent));
    }
    if (!table.one_of.empty()) {
      Json choices = Json::array();
      for (const std::string_view name : table.one_of) {
        choices.push_back(Json::object({{"required", Json::array({Json(name)})}}));
      }
      schema.set("oneOf", std::move(choices));
    }
    return schema;
  }

  // Adds the text that editors show on hover.
  Json described(const Key& key) {
    Json schema = shape_schema(key);
    if (!schema.is_object()) schema = Json::object();
    schema.set("description", key.about);
    if (key.otherwise) schema.set("default", *key.otherwise);
    return schema;
  }

  static Json within(Json schema, const Key& key) {
    if (!key.range) return schema;
    schema.set("minimum", static_cast<std::int64_t>(key.range->min));
    schema.set("maximum", static_cast<std::int64_t>(key.range->max));
    return schema;
  }

  Json table_ref(const KeyTable& table) {
    std::string name(table.noun);
    for (char& c : name) {
      if (c == ' ') c = '_';
    }
    if (definitions_.emplace(name, Json()).second) {
      Json schema = object_schema(table, table.keys);
      definitions_[name] = std::move(schema);
    }
    return reference_to(name);
  }

  Json shape_schema(const Key& key) {
    switch (key.shape) {
      case Shape::text: return pattern("^([^=]|$)");
      case Shape::label: return name_pattern("^[^=]");
      case Shape::labels: return list_of(name_pattern("^[^=]"));
      case Shape::workflow_name: return name_pattern("^[a-z0-9_-]+(\\.[a-z0-9_-]+)*$");
      case Shape::version: return name_pattern("^[A-Za-z0-9][A-Za-z0-9.+_-]*$");
      // The canonical form writes a step's place if the step has no id.
      case Shape::step_id: return pattern("^([A-Za-z_][A-Za-z0-9_-]*|steps\\[.+\\])$");
      case Shape::identifier: return name_pattern("^[A-Za-z_][A-Za-z0-9_]*$");
      case Shape::signal_name: return name_pattern(signal_pattern);
      case Shape::branch_name: return name_pattern(branch_pattern);
      case Shape::type_name: return name_pattern("^[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+)*$");
      case Shape::path: return reference_to("path");
      case Shape::boolean: return of_type("boolean");
      case Shape::integer: return within(of_type("integer"), key);
      case Shape::number: return within(of_type("number"), key);
      case Shape::choice: return Json::object({{"enum", texts(key.choices)}});
      case Shape::value:
      case Shape::derived: return Json::object();
      case Shape::text_value: return any_of({of_type("string"), reference_to("expression")});
      case Shape::texts_value:
        return any_of({list_of(any_of({of_type("string"), reference_to("expression")})), reference_to("expression")});
      case Shape::list_value: return any_of({of_type("array"), reference_to("expression")});
      case Shape::object_value: return any_of({of_type("object"), reference_to("expression")});
      case Shape::integer_value: return any_of({of_type("integer"), reference_to("expression")});
      case Shape::condition: return reference_to("condition");
      case Shape::conditions: return list_of(reference_to("condition"));
      case Shape::duration: return reference_to("duration");
      case Shape::duration_literal: return reference_to("duration_literal");
      case Shape::durations: return list_of(reference_to("duration"));
      case Shape::time: return reference_to("time");
      case Shape::due: return any_of({reference_to("duration"), reference_to("time")});
      case Shape::cron: return of_type("string");
      case Shape::schema: return Json::object({{"type", Json::array({"object", "boolean"})}});
      case Shape::steps: return reference_to("steps");
      case Shape::some_steps: return list_of(reference_to("step"), 1);
      case Shape::assignments:
        return any_of({Json::object({{"type", "object"}, {"propertyNames", reference_to("path")}}),
                       list_of(table_ref(*key.inner))});
      case Shape::branches:
        return any_of({Json::object({{"type", "object"},
                                     {"minProperties", 1},
                                     {"propertyNames", Json::object({{"pattern", branch_pattern}})},
                                     {"additionalProperties", reference_to("steps")}}),
                       list_of(table_ref(*key.inner), 1)});
      case Shape::statuses: return list_of(Json::object({{"type", "integer"}, {"minimum", 100}, {"maximum", 599}}));
      case Shape::join:
        return any_of({Json::object({{"enum", Json::array({"all", "any"})}}),
                       Json::object({{"type", "integer"}, {"minimum", 1}})});
      case Shape::wait: return any_of({reference_to("duration"), table_ref(*key.inner)});
      case Shape::retry: return any_of({Json::object({{"const", "none"}}), table_ref(*key.inner)});
      case Shape::object: return table_ref(*key.inner);
      case Shape::objects: return list_of(table_ref(*key.inner), 1);
      case Shape::maybe_objects: return list_of(table_ref(*key.inner));
      case Shape::signals:
        return Json::object({{"type", "object"},
                             {"propertyNames", Json::object({{"pattern", signal_pattern}})},
                             {"additionalProperties", table_ref(*key.inner)}});
    }
    return Json::object();
  }

  static constexpr std::string_view signal_pattern = "^[A-Za-z0-9_.-]+$";
  static constexpr std::string_view branch_pattern = "^[^\\s.#\\[\\]]+$";

  std::map<std::string, Json> definitions_;
};

}  // namespace

Json definition_schema() { return SchemaWriter().write(); }

}  // namespace cairn
