#include "definition/template.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

expr::Expression compile(std::string_view text) {
  expr::Environment environment;
  environment.variables.push_back({"x"});
  auto compiled = expr::compile(text, environment);
  EXPECT_TRUE(compiled.has_value()) << text;
  return compiled ? *compiled : expr::Expression();
}

Template expression(std::string_view text) { return Template::expression(compile(text)); }

struct Given {
  Json x;
  std::vector<expr::Value> values;
  explicit Given(Json held) : x(std::move(held)) { values.push_back(expr::from_json(x)); }
};

TEST(Template, ConstantPartsCollapse) {
  EXPECT_EQ(*Template::literal(5).constant(), Json(5));
  const Template list = Template::list({Template::literal(1), Template::literal("a")});
  ASSERT_NE(list.constant(), nullptr);
  EXPECT_EQ(write_json(*list.constant()), R"([1,"a"])");
  const Template object = Template::object({{"b", list}, {"a", Template()}});
  EXPECT_EQ(write_json(*object.constant()), R"({"a":null,"b":[1,"a"]})");
  EXPECT_EQ(Template::list({expression("x")}).constant(), nullptr);
  EXPECT_NE(expression("x").single(), nullptr);
}

TEST(Template, ExpressionsAreEvaluatedAtAnyDepth) {
  const Given given(2);
  const Template made = Template::object(
      {{"z", Template::list({Template::literal(1), expression("x + 1")})}, {"a", Template::literal("=text")}});
  const auto value = made.evaluate(given.values);
  ASSERT_TRUE(value.has_value());
  EXPECT_EQ(write_json(*value), R"({"a":"=text","z":[1,3]})");
}

TEST(Template, AFaultInsideIsTheFaultOfTheWhole) {
  const Given given(0);
  const auto value = Template::list({Template::literal(1), expression("1 / x")}).evaluate(given.values);
  ASSERT_FALSE(value.has_value());
  EXPECT_EQ(value.error().code, "divide_by_zero");
}

TEST(DurationTemplate, TakesDurationsAndTheirText) {
  const auto evaluate = [](std::string_view text, Json x) {
    const Given given(std::move(x));
    return DurationTemplate{std::nullopt, compile(text)}.evaluate(given.values);
  };
  EXPECT_EQ(*evaluate("duration('90s')", 0), Duration::of_seconds(90));
  EXPECT_EQ(*evaluate("x", "1h30m"), Duration::of_seconds(5400));
  EXPECT_EQ(*evaluate("x", "PT1H"), Duration::of_seconds(3600));
  EXPECT_EQ(*evaluate("duration('-5s')", 0), Duration());
  EXPECT_EQ(evaluate("x", 5).error().code, "no_such_overload");
  EXPECT_EQ(evaluate("x", "soon").error().code, "invalid_argument");
  EXPECT_EQ(*(DurationTemplate{Duration::of_seconds(1), {}}.evaluate({})), Duration::of_seconds(1));
}

TEST(TimeTemplate, TakesTimestampsAndTheirText) {
  const auto evaluate = [](std::string_view text, Json x) {
    const Given given(std::move(x));
    return TimeTemplate{std::nullopt, compile(text)}.evaluate(given.values);
  };
  EXPECT_EQ(evaluate("timestamp('1970-01-01T00:01:00Z')", 0)->seconds, 60);
  EXPECT_EQ(evaluate("x", "1970-01-01T01:00:00+01:00")->seconds, 0);
  EXPECT_EQ(evaluate("x", true).error().code, "no_such_overload");
  EXPECT_EQ(evaluate("x", "tomorrow").error().code, "invalid_argument");
}

}  // namespace
}  // namespace cairn
