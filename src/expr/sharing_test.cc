// Values that share the same part many times cost nothing to build. Writing or comparing them must not take 2^40 steps.
#include <gtest/gtest.h>

#include "expr/expression.h"

namespace cairn::expr {
namespace {

std::string repeated_text(std::string_view text, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) result += text;
  return result;
}

std::string code_of(const std::string& body, std::string_view binding) {
  constexpr int doublings = 40;
  const std::string text = repeated_text(binding, doublings) + body + repeated_text(")", doublings);
  const auto expression = compile(text, {{{"x"}}});
  if (!expression.has_value()) return expression.error().front().message;
  const Value bindings[] = {Value::integer(1)};
  const auto result = expression->evaluate_json(bindings);
  return result.has_value() ? "a value" : result.error().code;
}

TEST(Sharing, NeverCostsMoreThanTheBudget) {
  for (const char* body : {"x", "[x, x] == [x, x].map(y, y)", "[x] in [[x].map(y, y)]", "[x, [x[0], x[1]]].distinct()",
                           "x.flatten(50)", "\"%s\".format([x])", "toJson(x)", "template(\"{x}\", {\"x\": x})",
                           "sets.contains([x], [[x[0], x[1]]])", "[x, x].distinctBy(y, [y[0], y[1]])"}) {
    EXPECT_EQ(code_of(body, "cel.bind(x, [x, x], "), "cost_exceeded") << body;
  }
  EXPECT_EQ(code_of("x.mergeDeep(x)", "cel.bind(x, {\"a\": x, \"b\": x}, "), "cost_exceeded");
}

}  // namespace
}  // namespace cairn::expr
