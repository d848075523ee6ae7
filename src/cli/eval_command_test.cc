#include "cli/command_fixture_test.h"
#include "cli/eval_vectors.h"
#include "cli/exit_code.h"

namespace cairn::cli {
namespace {

Outcome run_evaluation(const std::vector<std::string>& args, const std::string& input = "") {
  return run_command(run_eval, args, input);
}

TEST(Eval, PrintsTheValueAsJson) {
  EXPECT_EQ(run_evaluation({"1 + 2 * 3"}).out, "7\n");
  EXPECT_EQ(run_evaluation({"input.amount > 100", "--context", R"({"input": {"amount": 250}})"}).out, "true\n");
  EXPECT_EQ(run_evaluation({"optional.none()"}).out, "optional.none()\n");
  EXPECT_EQ(run_evaluation({}, "1 + 1\n").out, "2\n");
  EXPECT_EQ(run_evaluation({"1 + 1", "--json"}).out, "{\"type\": \"int\", \"value\": 2}\n");
}

TEST(Eval, TheExitCodeTellsInvalidFromFailed) {
  const Outcome invalid = run_evaluation({"1 + nothing"});
  EXPECT_EQ(invalid.code, exit_invalid);
  EXPECT_EQ(invalid.out, "");
  EXPECT_EQ(invalid.err, "1:5: error: `nothing` is not defined here [unknown_name]\n  1 + nothing\n      ^^^^^^^\n");
  const Outcome failed = run_evaluation({"1 / 0"});
  EXPECT_EQ(failed.code, exit_failed);
  EXPECT_EQ(failed.err, "1:1: error: division by zero [divide_by_zero]\n  1 / 0\n  ^^^^^\n");
  EXPECT_EQ(run_evaluation({"1", "2"}).code, exit_usage);
  EXPECT_EQ(run_evaluation({"1", "--context", "[1]"}).code, exit_usage);
  EXPECT_EQ(run_evaluation({"1", "--context", "{"}).code, exit_usage);
  EXPECT_EQ(run_evaluation({"--unknown"}).code, exit_usage);
}

TEST(Eval, ListsFunctions) {
  const Outcome all = run_evaluation({"--functions", "--json"});
  const auto document = parse_json(all.out);
  ASSERT_TRUE(document);
  EXPECT_GT((*document)["functions"].size(), 150u);
  EXPECT_NE(run_evaluation({"--functions", "sortBy"}).out.find("list(T).sortBy(item, expression) -> list(T)"),
            std::string::npos);
}

TEST(EvalVectors, AnswersOnePerLine) {
  const std::string lines =
      R"({"id": "a", "expr": "x + 1", "types": {"x": "int"}, "bindings": {"x": {"int": "41"}}})"
      "\n"
      R"({"id": "b", "expr": "1 +"})"
      "\n"
      R"~({"id": "c", "expr": "f(1)", "check_only": true, "functions": [{"name": "f", "overloads": [{"params": ["int"], "result": "string", "receiver": false}]}]})~"
      "\n"
      R"({"id": "d", "expr": "y || true", "disable_check": true})"
      "\n";
  const Outcome outcome = run_evaluation({"--vectors", "-"}, lines);
  EXPECT_EQ(outcome.code, exit_done);
  EXPECT_EQ(
      outcome.out,
      "{\"id\":\"a\",\"type\":\"int\",\"value\":{\"int\":\"42\"}}\n"
      "{\"code\":\"syntax\",\"error\":\"syntax: expected a value, found the end\",\"id\":\"b\",\"phase\":\"parse\"}\n"
      "{\"id\":\"c\",\"type\":\"string\"}\n"
      "{\"id\":\"d\",\"value\":{\"bool\":true}}\n");
}

}  // namespace
}  // namespace cairn::cli
