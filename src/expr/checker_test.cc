#include <gtest/gtest.h>

#include "expr/expression.h"

namespace cairn::expr {
namespace {

const Json form = *parse_json(R"({
  "type": "object", "required": ["amount"], "additionalProperties": false,
  "properties": {
    "amount": {"type": "number"}, "name": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}},
    "address": {"type": "object", "properties": {"city": {"type": "string"}}}
  }})");

Environment environment() { return {{{"input", Type::from_schema(form)}, {"state", Type::dyn()}}, false}; }

std::string type_of(std::string_view text) {
  const auto compiled = compile(text, environment());
  return compiled ? compiled->type().text() : compiled.error()[0].code + ": " + compiled.error()[0].message;
}

TEST(Checker, DeducesTypesFromASchema) {
  EXPECT_EQ(type_of("input.amount"), "number");
  EXPECT_EQ(type_of("input.name + 'x'"), "string");
  EXPECT_EQ(type_of("input.tags[0].size()"), "int");
  EXPECT_EQ(type_of("input.tags.map(t, t.size())"), "list(int)");
  EXPECT_EQ(type_of("input.address.city"), "string");
  EXPECT_EQ(type_of("input.address.street"), "dyn");
  EXPECT_EQ(type_of("state.anything[3].at.all"), "dyn");
  EXPECT_EQ(type_of("input.?name.orValue('')"), "string");
}

TEST(Checker, PatternsAndPrefixesPromiseNothingAboutTheRest) {
  const Json schema = *parse_json(R"({"type": "object", "properties": {
    "marks": {"type": "object", "patternProperties": {"^n_": {"type": "string"}}, "additionalProperties": {"type": "number"}},
    "pair": {"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "number"}},
    "only": {"type": "object", "patternProperties": {"^n_": {"type": "string"}}, "additionalProperties": false},
    "plain": {"type": "object", "additionalProperties": {"type": "number"}}}})");
  const Environment with{{{"input", Type::from_schema(schema)}}, false};
  EXPECT_TRUE(compile("input.marks.n_a + 'x'", with));
  EXPECT_TRUE(compile("input.marks.b + 1", with));
  EXPECT_TRUE(compile("input.pair[0] + 'x'", with));
  EXPECT_TRUE(compile("input.pair[1] + 1", with));
  EXPECT_TRUE(compile("input.only.n_a + 'x'", with));
  EXPECT_FALSE(compile("input.plain.b + 'x'", with));
}

TEST(Checker, AMemberThatCannotExistIsReportedWithANearOne) {
  EXPECT_EQ(type_of("input.amuont > 3"), "no_such_key: there is no `amuont` in `input`; did you mean `amount`?");
  EXPECT_EQ(type_of("has(input.amuont)"), "bool");
}

TEST(Checker, TypesThatDoNotFitAreReported) {
  EXPECT_EQ(type_of("input.name > 3"), "no_such_overload: `>` cannot compare string and int");
  EXPECT_EQ(type_of("input.amount + 'x'"),
            "no_such_overload: `+` cannot combine number and string; string(…) makes text of a value");
  EXPECT_EQ(type_of("input.name && true"), "no_such_overload: `&&` needs a bool, found string");
  EXPECT_EQ(type_of("3 in input.tags"), "no_such_overload: an int is never in a list(string)");
  EXPECT_EQ(type_of("input.name.startWith('a')"),
            "unknown_function: there is no function `startWith`; did you mean `startsWith`?");
  EXPECT_EQ(type_of("input.name.charAt('a')").substr(0, 75),
            "no_such_overload: `charAt` cannot be called with (string) on a string; it i");
}

TEST(Checker, ReportsSeveralFaultsInTheirOrder) {
  const auto compiled = compile("nothing + input.wrong + state.x.sise(1)", environment());
  ASSERT_FALSE(compiled);
  ASSERT_EQ(compiled.error().size(), 3u);
  EXPECT_EQ(compiled.error()[0].code, "unknown_name");
  EXPECT_EQ(compiled.error()[1].code, "no_such_key");
  EXPECT_EQ(compiled.error()[2].code, "unknown_function");
}

TEST(Checker, MacroVariablesMayHideNamesAndEndWithTheirScope) {
  EXPECT_EQ(type_of("[1].map(input, input + 1)"), "list(int)");
  EXPECT_EQ(type_of("[1].map(q, q)[0] + q"), "unknown_name: `q` is not defined here; names are `input`, `state`");
}

TEST(Parser, SyntaxFaultsSayWhatWasExpectedAndWhere) {
  const auto fault = [](std::string_view text) {
    const auto compiled = compile(text, environment());
    return compiled ? std::string("compiled")
                    : std::to_string(compiled.error()[0].offset) + " " + compiled.error()[0].message;
  };
  EXPECT_EQ(fault(""), "0 the expression is empty");
  EXPECT_EQ(fault("1 +"), "3 expected a value, found the end");
  EXPECT_EQ(fault("(1"), "2 expected `)`, found the end");
  EXPECT_EQ(fault("1 = 2"), "2 `=` is not an operator; equality is `==`");
  EXPECT_EQ(fault("1)"), "1 `)` closes nothing that is open here");
  EXPECT_EQ(fault("'abc"), "0 the text is never closed");
  EXPECT_EQ(fault("a b"), "2 expected an operator or the end, found `b`");
  EXPECT_EQ(fault("'a\\q'"), "2 unknown escape in the text; a backslash itself is written \\\\");
  EXPECT_EQ(fault("99999999999999999999"), "0 the number does not fit 64 bits");
  EXPECT_EQ(fault("has(1)"), "0 has() asks for a member: has(a.b)");
  EXPECT_EQ(fault("[1].map(2, 3)"), "8 the variable of map must be a plain name");
  EXPECT_EQ(fault("while"), "0 `while` is a reserved word");
}

}  // namespace
}  // namespace cairn::expr
