#include "expr/expression.h"

#include <gtest/gtest.h>

namespace cairn::expr {
namespace {

const Json input =
    *parse_json(R"({"amount": 250, "tier": "b", "rate": 0.5, "items": [{"n": 1}, {"n": 2}], "none": null})");
const Json state = *parse_json(R"({"score": {"value": 710}, "names": ["x", "y"]})");

Environment expression_environment() { return {{{"input", Type::dyn()}, {"state", Type::dyn()}}, false}; }

std::string evaluated(std::string_view text) {
  const auto compiled = compile(text, expression_environment());
  if (!compiled) return compiled.error().front().code;
  const Value values[] = {Value::borrow(input), Value::borrow(state)};
  const auto result = compiled->evaluate_json(values);
  return result ? write_json(*result) : result.error().code;
}

TEST(Expression, ReadsMembersAndComparesThem) {
  EXPECT_EQ(evaluated("input.amount > 100 && input.tier in [\"a\",\"b\"]"), "true");
  EXPECT_EQ(evaluated("input.amount > 1000 && input.tier in [\"a\",\"b\"]"), "false");
  EXPECT_EQ(evaluated("state.score.value >= 700 ? 'yes' : 'no'"), "\"yes\"");
  EXPECT_EQ(evaluated("input"), write_json(input));
  EXPECT_EQ(evaluated("input.items.map(i, i.n * 2)"), "[2,4]");
  EXPECT_EQ(evaluated("input.items.filter(i, i.n > 1)"), R"([{"n":2}])");
  EXPECT_EQ(evaluated("[state.names, input.items][0][1]"), "\"y\"");
}

TEST(Expression, MixedArithmeticGivesADouble) {
  EXPECT_EQ(evaluated("input.amount * input.rate"), "125.0");
  EXPECT_EQ(evaluated("1 + 0.5"), "1.5");
  EXPECT_EQ(evaluated("7 / 2"), "3");
  EXPECT_EQ(evaluated("7 / 2.0"), "3.5");
  EXPECT_EQ(evaluated("7 % 2.0"), "no_such_overload");
}

TEST(Expression, LogicAbsorbsErrors) {
  EXPECT_EQ(evaluated("input.missing > 1 || true"), "true");
  EXPECT_EQ(evaluated("input.missing > 1 && false"), "false");
  EXPECT_EQ(evaluated("input.missing > 1 && true && false"), "false");
  EXPECT_EQ(evaluated("input.missing > 1 || false"), "no_such_key");
  EXPECT_EQ(evaluated("1/0 > 1 && input.missing"), "divide_by_zero");
  EXPECT_EQ(evaluated("[1, 0].exists(x, 1 / x == 1)"), "true");
  EXPECT_EQ(evaluated("[0, 2].exists(x, 1 / x == 1)"), "divide_by_zero");
}

TEST(Expression, FaultsNameThePlaceAndNearNames) {
  const auto compiled = compile("1 + inptu.amount", expression_environment());
  ASSERT_FALSE(compiled);
  ASSERT_EQ(compiled.error().size(), 1u);
  const Fault& fault = compiled.error()[0];
  EXPECT_EQ(fault.code, "unknown_name");
  EXPECT_EQ(fault.offset, 4u);
  EXPECT_EQ(fault.length, 5u);
  EXPECT_EQ(fault.message, "`inptu` is not defined here; did you mean `input`?");

  const auto reading = compile("state.scores.value", expression_environment());
  ASSERT_TRUE(reading);
  const Value values[] = {Value::borrow(input), Value::borrow(state)};
  const auto result = reading->evaluate(values);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "no such key `scores`; the object has `names`, `score`");
  EXPECT_EQ(result.error().offset, 0u);
  EXPECT_EQ(result.error().length, 12u);
}

TEST(Expression, ConditionsMustBeBool) {
  const auto compiled = compile("input.none", expression_environment());
  const Value values[] = {Value::borrow(input), Value::borrow(state)};
  EXPECT_EQ(compiled->evaluate_condition(values).error().code, "not_boolean");
  EXPECT_TRUE(*compile("input.amount == 250", expression_environment())->evaluate_condition(values));
}

TEST(Expression, TellsWhatItReads) {
  const auto compiled =
      compile("input.a.b + state[\"x\"].y[0] + has(input.z) + input.?q.orValue(1) + [dyn(1)].map(input, input.w)[0]",
              expression_environment());
  ASSERT_TRUE(compiled) << compiled.error()[0].message;
  std::string seen;
  for (const Reference& reference : compiled->references()) {
    seen += reference.variable;
    for (const std::string& step : reference.path) seen += "." + step;
    seen += reference.optional ? "? " : " ";
  }
  EXPECT_EQ(seen, "input.a.b input.q? input.z? state.x.y ");
  EXPECT_EQ(compiled->functions(), (std::vector<std::string>{"dyn", "orValue"}));
}

TEST(Expression, SecretsAreMarkersWhereTheyAreAllowed) {
  Environment sending = expression_environment();
  sending.allow_secret = true;
  const auto compiled = compile("'Bearer ' + secret('token')", sending);
  ASSERT_TRUE(compiled);
  EXPECT_EQ(compiled->secrets(), std::vector<std::string>{"token"});
  EXPECT_EQ(compiled->evaluate_json({})->as_string(), "Bearer \xEE\x80\x80secret:token\xEE\x80\x81");
  EXPECT_FALSE(compile("secret('token')", expression_environment()));
  EXPECT_FALSE(compile("secret(input.name)", sending));
}

TEST(Expression, AValueOutlivesWhatItWasReadFrom) {
  const auto compiled = compile("[input.items[1], {'t': input.tier}]", expression_environment());
  ASSERT_TRUE(compiled);
  Value kept;
  {
    const Json passing = *parse_json(R"({"items": [1, {"n": "a text that is longer than inline"}], "tier": "gold"})");
    const Value values[] = {Value::borrow(passing), Value()};
    kept = *compiled->evaluate(values);
  }
  EXPECT_EQ(write_json(*to_json(kept)), R"([{"n":"a text that is longer than inline"},{"t":"gold"}])");
}

}  // namespace
}  // namespace cairn::expr
