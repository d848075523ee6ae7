#include "schema/schema.h"

#include <gtest/gtest.h>

#include <thread>

namespace cairn::schema {
namespace {

Json json(std::string_view text) {
  auto parsed = parse_json(text);
  EXPECT_TRUE(parsed) << text << (parsed ? "" : parsed.error().message);
  return parsed ? *parsed : Json();
}

Schema schema(std::string_view text) {
  auto compiled = Schema::compile(json(text));
  if (!compiled) ADD_FAILURE() << text << ": " << compiled.error()[0].pointer << ": " << compiled.error()[0].message;
  return compiled ? *compiled : *Schema::compile(Json(true));
}

std::string violations(std::string_view schema_text, std::string_view data) {
  std::string out;
  for (const Violation& violation : schema(schema_text).check(json(data))) {
    out += violation.pointer + ": " + violation.message + " [" + violation.keyword + "]\n";
  }
  return out;
}

std::string faults(std::string_view text) {
  const auto compiled = Schema::compile(json(text));
  if (compiled) return "";
  std::string out;
  for (const SchemaFault& fault : compiled.error()) out += fault.pointer + ": " + fault.message + "\n";
  return out;
}

TEST(Check, SaysInPlainWordsWhatIsWrongAndWhere) {
  EXPECT_EQ(violations(R"({"properties": {"amount": {"minimum": 1}}})", R"({"amount": 0})"),
            "/amount: must be at least 1 [minimum]\n");
  EXPECT_EQ(violations(R"({"items": {"required": ["amount"]}})", R"([{}])"),
            "/0: is missing the required member `amount` [required]\n");
  EXPECT_EQ(violations(R"({"type": ["string", "null"]})", "1"),
            ": must be a string or null, but is an integer [type]\n");
  EXPECT_EQ(violations(R"({"properties": {"a/b": {"maxLength": 1}}})", R"({"a/b": "xx"})"),
            "/a~1b: must have at most 1 character [maxLength]\n");
  EXPECT_EQ(violations(R"({"enum": ["a", 1]})", "2"), ": must be one of \"a\", 1 [enum]\n");
  EXPECT_EQ(violations(R"({"uniqueItems": true})", "[1, 2, 1.0]"),
            ": must not hold the same item twice, but items 0 and 2 are equal [uniqueItems]\n");
  EXPECT_EQ(violations(R"({"propertyNames": {"pattern": "^[a-z]+$"}})", R"({"A": 1})"),
            ": has the member `A`, whose name is not allowed: it must match the pattern `^[a-z]+$` [propertyNames]\n");
  EXPECT_EQ(violations(R"({"dependentRequired": {"card": ["address"]}})", R"({"card": 1})"),
            ": is missing the member `address`, which is required together with `card` [dependentRequired]\n");
  EXPECT_EQ(violations(R"({"properties": {"a": true}, "additionalProperties": false})", R"({"b": 1})"),
            "/b: is not an allowed member (allowed: `a`) [additionalProperties]\n");
}

TEST(Check, FindsAllViolationsUpToTheBound) {
  const Schema all_strings = schema(R"({"items": {"type": "string"}})");
  const Json numbers = json("[1, 2, 3, 4, 5]");
  EXPECT_EQ(all_strings.check(numbers).size(), 5u);
  EXPECT_EQ(all_strings.check(numbers, 2).size(), 2u);
  EXPECT_TRUE(all_strings.check(json(R"(["a"])")).empty());
}

TEST(Check, SaysTheSameThingOnce) {
  EXPECT_EQ(violations(R"({"allOf": [{"minimum": 1}, {"minimum": 1}]})", "0"), ": must be at least 1 [minimum]\n");
}

TEST(Check, ExplainsTheOnlyAlternativeThatIsMeant) {
  constexpr std::string_view optional_object =
      R"({"oneOf": [{"type": "null"}, {"type": "object", "required": ["iban"]}]})";
  EXPECT_EQ(violations(optional_object, "{}"), ": is missing the required member `iban` [required]\n");
  EXPECT_EQ(violations(optional_object, "3"),
            ": must fit exactly one of the 2 alternatives of `oneOf`, but fits none [oneOf]\n");
  EXPECT_EQ(violations(R"({"oneOf": [{}, {"type": "integer"}]})", "3"),
            ": must fit exactly one of the 2 alternatives of `oneOf`, but fits numbers 1 and 2 [oneOf]\n");
}

TEST(Check, DoesNotComplainAboutUnevaluatedMembersOfAFailedSchema) {
  constexpr std::string_view text =
      R"({"$ref": "#/$defs/base", "unevaluatedProperties": false, "$defs": {"base": {"properties": {"a": {"type": "string"}}}}})";
  EXPECT_EQ(violations(text, R"({"a": 1})"), "/a: must be a string, but is an integer [type]\n");
  EXPECT_EQ(violations(text, R"({"a": "", "b": 1})"), "/b: is not an allowed member [unevaluatedProperties]\n");
}

TEST(Check, ComparesNumbersByValue) {
  EXPECT_TRUE(schema(R"({"const": 1.0})").accepts(json("1")));
  EXPECT_TRUE(schema(R"({"type": "integer"})").accepts(json("2.0")));
  EXPECT_FALSE(schema(R"({"const": 9007199254740993})").accepts(json("9007199254740992.0")));
  EXPECT_FALSE(schema(R"({"maximum": 9007199254740992.0})").accepts(json("9007199254740993")));
}

TEST(Check, TakesMultiplesInDecimal) {
  const Schema cents = schema(R"({"multipleOf": 0.01})");
  EXPECT_TRUE(cents.accepts(json("19.99")));
  EXPECT_TRUE(cents.accepts(json("4.35")));
  EXPECT_FALSE(cents.accepts(json("4.355")));
  EXPECT_TRUE(cents.accepts(json("1e308")));
  EXPECT_FALSE(schema(R"({"multipleOf": 0.123456789})").accepts(json("1e308")));
  EXPECT_TRUE(schema(R"({"multipleOf": 7})").accepts(json("-9223372036854775807")));
  EXPECT_FALSE(schema(R"({"multipleOf": 3})").accepts(json("-9223372036854775808")));
}

TEST(Check, CountsCodePoints) {
  const Schema two = schema(R"({"minLength": 2, "maxLength": 2})");
  EXPECT_TRUE(two.accepts(json(R"("💩💩")")));
  EXPECT_FALSE(two.accepts(json(R"("💩")")));
}

TEST(Check, AssertsFormatsUnlessToldOtherwise) {
  const Json document = json(R"({"format": "date"})");
  EXPECT_FALSE(Schema::compile(document)->accepts(json(R"("2023-02-29")")));
  EXPECT_TRUE(Schema::compile(document, {.assert_formats = false})->accepts(json(R"("2023-02-29")")));
  EXPECT_TRUE(schema(R"({"format": "house-number"})").accepts(json(R"("x")")));
}

TEST(Compile, FindsEveryFaultWithItsPlace) {
  EXPECT_EQ(
      faults(R"({"properties": {"a": {"type": "strin"}, "b": {"minimum": "1"}, "c": 3}, "x-unknown": 3})"),
      "/properties/a/type: `type` must be one of null, boolean, integer, number, string, array, object, or an array "
      "of them\n/properties/b/minimum: `minimum` must be a number\n"
      "/properties/c: a schema must be an object, true or false\n");
  EXPECT_EQ(faults(R"({"$defs": {"unused": {"required": "a"}}})"),
            "/$defs/unused/required: `required` must be an array of strings\n");
  EXPECT_EQ(faults("[]"), ": a schema must be an object, true or false\n");
}

TEST(Compile, RefusesRemoteReferencesInPlainWords) {
  EXPECT_EQ(
      faults(R"({"$ref": "https://example.com/a.json"})"),
      "/$ref: `https://example.com/a.json` leads outside of this document; remote references are not supported, so "
      "put the schema under `$defs`\n");
  EXPECT_EQ(faults(R"({"$ref": "#/$defs/nope"})"), "/$ref: `#/$defs/nope` leads to nothing in this document\n");
  EXPECT_EQ(faults(R"({"$ref": "#nope"})"), "/$ref: `#nope` names an anchor that is not declared\n");
}

TEST(Compile, RefusesOtherDrafts) {
  EXPECT_NE(faults(R"({"$schema": "http://json-schema.org/draft-07/schema#"})"), "");
  EXPECT_NE(faults(R"({"items": [{}]})"), "");
}

TEST(Compile, RefusesPatternsThatCannotRunInLinearTime) {
  EXPECT_NE(faults(R"json({"pattern": "(?=a)"})json").find("look-around"), std::string::npos);
  EXPECT_NE(faults(R"({"patternProperties": {"(a)\\1": {}}})").find("back-reference"), std::string::npos);
}

TEST(Compile, RefusesSchemasThatNeverEnd) {
  EXPECT_NE(faults(R"({"$ref": "#"})"), "");
  EXPECT_NE(faults(R"({"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"not": {"$ref": "#/$defs/a"}}]}}})"), "");
  EXPECT_EQ(faults(R"({"items": {"$ref": "#"}, "properties": {"a": {"$ref": "#"}}})"), "");
}

TEST(Hostile, AnEndlessDynamicReferenceIsAViolation) {
  const Schema endless = schema(R"({"$dynamicAnchor": "a", "$dynamicRef": "#a"})");
  EXPECT_FALSE(endless.accepts(json("1")));
  EXPECT_EQ(endless.check(json("1")).size(), 1u);
}

TEST(Hostile, DoublingReferencesRunIntoTheBound) {
  Json definitions = Json::object();
  for (int i = 0; i < 40; ++i) {
    const Json next = Json::object({{"$ref", "#/$defs/n" + std::to_string(i + 1)}});
    definitions.set("n" + std::to_string(i), Json::object({{"allOf", Json::array({next, next})}}));
  }
  definitions.set("n40", json(R"({"type": "integer"})"));
  const auto doubling = Schema::compile(Json::object({{"$ref", "#/$defs/n0"}, {"$defs", definitions}}));
  ASSERT_TRUE(doubling);
  EXPECT_EQ(doubling->check(json("1"))[0].message, "the schema needs too many steps for this value");
}

TEST(Hostile, ALongChainOfReferencesIsAFault) {
  Json definitions = Json::object();
  for (int i = 0; i < 1000; ++i) {
    definitions.set("n" + std::to_string(i), Json::object({{"$ref", "#/$defs/n" + std::to_string(i + 1)}}));
  }
  definitions.set("n1000", true);
  EXPECT_FALSE(Schema::compile(Json::object({{"$ref", "#/$defs/n0"}, {"$defs", definitions}})));
}

TEST(Hostile, ALargeEnumIsSearched) {
  Json::Array values;
  for (int i = 0; i < 100'000; ++i) values.emplace_back(i);
  const auto large = Schema::compile(Json::object({{"enum", Json(std::move(values))}}));
  ASSERT_TRUE(large);
  EXPECT_TRUE(large->accepts(json("99999.0")));
  EXPECT_FALSE(large->accepts(json("100000")));
}

TEST(Hostile, TheDeepestDataGoesThroughSeveralSchemasALevel) {
  std::string deep = std::string(127, '[') + "1" + std::string(127, ']');
  const Schema nested = schema(
      R"({"allOf": [{"anyOf": [{"type": "integer"}, {"type": "array", "items": {"$ref": "#"}}]}], "type": ["array", "integer"]})");
  EXPECT_TRUE(nested.accepts(json(deep)));
}

TEST(Schema, IsSafeFromSeveralThreads) {
  const Schema shared = schema(R"({"properties": {"a": {"pattern": "^x+$"}}, "unevaluatedProperties": false})");
  const Json good = json(R"({"a": "xxx"})");
  const Json bad = json(R"({"a": "y", "b": 1})");
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([copy = shared, good, bad] {
      for (int round = 0; round < 200; ++round) {
        EXPECT_TRUE(copy.accepts(good));
        EXPECT_EQ(copy.check(bad).size(), 1u);
      }
    });
  }
}

TEST(Schema, MayReferToTheMetaschema) {
  const Schema any_schema = schema(R"({"$ref": "https://json-schema.org/draft/2020-12/schema"})");
  EXPECT_TRUE(any_schema.accepts(json(R"({"$defs": {"a": {"type": "string"}}})")));
  EXPECT_FALSE(any_schema.accepts(json(R"({"$defs": {"a": {"type": 1}}})")));
  EXPECT_TRUE(any_schema.accepts(json(R"({"properties": {"a": {"allOf": [true, {"minimum": 1}]}}})")));
}

}  // namespace
}  // namespace cairn::schema
