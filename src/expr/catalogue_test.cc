#include <gtest/gtest.h>

#include <set>

#include "expr/expression.h"

namespace cairn::expr {
namespace {

std::string text_of(const Result<Value, Fault>& result) {
  if (!result.has_value()) return result.error().code + ": " + result.error().message;
  const auto json = to_json(*result);
  return std::string(describe(result->kind())) + " " + (json.has_value() ? write_json(*json) : json.error().message);
}

Result<Value, Fault> evaluate(const std::string& text) {
  const auto expression = compile(text, {});
  if (!expression.has_value()) return expression.error().front();
  return expression->evaluate({});
}

// Compares decimals by their JSON, so that the scale counts too, and other values by equality.
bool same(const Value& a, const Value& b) {
  if (!equal(a, b)) return false;
  const auto left = to_json(a);
  const auto right = to_json(b);
  return left.has_value() == right.has_value() && (!left.has_value() || write_json(*left) == write_json(*right));
}

TEST(Catalogue, EveryExampleGivesItsResult) {
  ASSERT_GT(function_catalogue().size(), 100u);
  for (const FunctionEntry& entry : function_catalogue()) {
    const auto got = evaluate(entry.example);
    const auto wanted = evaluate(entry.example_result);
    ASSERT_TRUE(wanted.has_value()) << entry.signature << ": " << entry.example_result << ": " << text_of(wanted);
    EXPECT_TRUE(got.has_value() && same(*got, *wanted)) << entry.signature << ": " << entry.example << "\n  gives  "
                                                        << text_of(got) << "\n  wanted " << text_of(wanted);
  }
}

TEST(Catalogue, EveryExampleCallsItsFunction) {
  for (const FunctionEntry& entry : function_catalogue()) {
    const bool is_operator = entry.name.find('_') != std::string::npos;
    const std::string bare = entry.name.substr(entry.name.rfind('.') + 1);
    EXPECT_TRUE(is_operator || entry.example.find(bare) != std::string::npos)
        << entry.signature << ": " << entry.example;
  }
}

TEST(Catalogue, DescribesEveryOverloadInOneSentence) {
  std::set<std::string> signatures;
  for (const FunctionEntry& entry : function_catalogue()) {
    EXPECT_TRUE(signatures.insert(entry.signature).second) << "twice: " << entry.signature;
    EXPECT_FALSE(entry.library.empty()) << entry.signature;
    ASSERT_FALSE(entry.description.empty()) << entry.signature;
    EXPECT_EQ(entry.description.back(), '.') << entry.signature;
  }
}

}  // namespace
}  // namespace cairn::expr
