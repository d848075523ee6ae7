#include "schema/metaschema.h"

namespace cairn::schema {
namespace {

constexpr std::string_view text = R"json({
  "$id": "https://json-schema.org/draft/2020-12/schema",
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$dynamicAnchor": "meta",
  "title": "What a JSON Schema of draft 2020-12 may look like",
  "type": ["object", "boolean"],
  "properties": {
    "$id": {"type": "string", "format": "uri-reference", "pattern": "^[^#]*#?$"},
    "$schema": {"type": "string", "format": "uri"},
    "$ref": {"$ref": "#/$defs/reference"},
    "$dynamicRef": {"$ref": "#/$defs/reference"},
    "$anchor": {"$ref": "#/$defs/anchor"},
    "$dynamicAnchor": {"$ref": "#/$defs/anchor"},
    "$vocabulary": {
      "type": "object",
      "propertyNames": {"type": "string", "format": "uri"},
      "additionalProperties": {"type": "boolean"}
    },
    "$comment": {"type": "string"},
    "$defs": {"$ref": "#/$defs/schemas"},

    "prefixItems": {"$ref": "#/$defs/schema_list"},
    "items": {"$dynamicRef": "#meta"},
    "contains": {"$dynamicRef": "#meta"},
    "additionalProperties": {"$dynamicRef": "#meta"},
    "properties": {"$ref": "#/$defs/schemas"},
    "patternProperties": {"$ref": "#/$defs/schemas", "propertyNames": {"format": "regex"}},
    "dependentSchemas": {"$ref": "#/$defs/schemas"},
    "propertyNames": {"$dynamicRef": "#meta"},
    "if": {"$dynamicRef": "#meta"},
    "then": {"$dynamicRef": "#meta"},
    "else": {"$dynamicRef": "#meta"},
    "allOf": {"$ref": "#/$defs/schema_list"},
    "anyOf": {"$ref": "#/$defs/schema_list"},
    "oneOf": {"$ref": "#/$defs/schema_list"},
    "not": {"$dynamicRef": "#meta"},
    "unevaluatedItems": {"$dynamicRef": "#meta"},
    "unevaluatedProperties": {"$dynamicRef": "#meta"},

    "type": {
      "anyOf": [
        {"$ref": "#/$defs/type_name"},
        {"type": "array", "items": {"$ref": "#/$defs/type_name"}, "minItems": 1, "uniqueItems": true}
      ]
    },
    "const": true,
    "enum": {"type": "array"},
    "multipleOf": {"type": "number", "exclusiveMinimum": 0},
    "maximum": {"type": "number"},
    "exclusiveMaximum": {"type": "number"},
    "minimum": {"type": "number"},
    "exclusiveMinimum": {"type": "number"},
    "maxLength": {"$ref": "#/$defs/count"},
    "minLength": {"$ref": "#/$defs/count"},
    "pattern": {"type": "string", "format": "regex"},
    "maxItems": {"$ref": "#/$defs/count"},
    "minItems": {"$ref": "#/$defs/count"},
    "uniqueItems": {"type": "boolean"},
    "maxContains": {"$ref": "#/$defs/count"},
    "minContains": {"$ref": "#/$defs/count"},
    "maxProperties": {"$ref": "#/$defs/count"},
    "minProperties": {"$ref": "#/$defs/count"},
    "required": {"$ref": "#/$defs/names"},
    "dependentRequired": {"type": "object", "additionalProperties": {"$ref": "#/$defs/names"}},

    "title": {"type": "string"},
    "description": {"type": "string"},
    "default": true,
    "deprecated": {"type": "boolean"},
    "readOnly": {"type": "boolean"},
    "writeOnly": {"type": "boolean"},
    "examples": {"type": "array"},
    "format": {"type": "string"},
    "contentEncoding": {"type": "string"},
    "contentMediaType": {"type": "string"},
    "contentSchema": {"$dynamicRef": "#meta"},

    "definitions": {"$ref": "#/$defs/schemas", "deprecated": true},
    "dependencies": {
      "type": "object",
      "additionalProperties": {"anyOf": [{"$dynamicRef": "#meta"}, {"$ref": "#/$defs/names"}]},
      "deprecated": true
    }
  },
  "$defs": {
    "anchor": {"type": "string", "pattern": "^[A-Za-z_][-A-Za-z0-9._]*$"},
    "reference": {"type": "string", "format": "uri-reference"},
    "count": {"type": "integer", "minimum": 0},
    "names": {"type": "array", "items": {"type": "string"}, "uniqueItems": true},
    "schemas": {"type": "object", "additionalProperties": {"$dynamicRef": "#meta"}},
    "schema_list": {"type": "array", "minItems": 1, "items": {"$dynamicRef": "#meta"}},
    "type_name": {"enum": ["array", "boolean", "integer", "null", "number", "object", "string"]}
  }
})json";

}  // namespace

const Json& metaschema() {
  static const Json parsed = [] {
    auto result = parse_json(text);
    CAIRN_ASSERT(result.has_value());
    return std::move(result).value();
  }();
  return parsed;
}

}  // namespace cairn::schema
