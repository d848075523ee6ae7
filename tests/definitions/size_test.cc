// A definition of 5 000 lines is checked in less than a tenth of a second.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <iostream>

#include "definition/definition.h"

namespace cairn {
namespace {

std::string large_definition(std::ptrdiff_t lines_min) {
  std::string text =
      "cairn: 1\nname: test.large\nversion: 1.0.0\n"
      "input: {type: object, required: [amount], properties: {amount: {type: number}, items: {type: array}}}\n"
      "state:\n  total: 0\nsteps:\n";
  for (int i = 0; std::count(text.begin(), text.end(), '\n') < lines_min; ++i) {
    const std::string n = std::to_string(i);
    text +=
        "  - id: score" + n +
        "\n    call:\n      http:\n        method: POST\n        url: = config.scoring_url + \"/v1/\" + string(" + n +
        ")\n        body:\n          customer: = input.amount\n          note: \"plain text\"\n      timeout: 10s\n"
        "      retry: {attempts: 5, backoff: 1s}\n      result: score" +
        n + "\n      on_failure:\n        - set: {score" + n +
        ": {value: 0}, why: = error.message}\n"
        "  - if: state.score" +
        n +
        ".value >= 700 && input.amount < 1000.0\n    then:\n      - set:\n"
        "          decision: approved\n          total: = state.total + 1\n    else:\n      - task:\n"
        "          name: Review" +
        n +
        "\n          title: = \"Review \" + string(state.total)\n          roles: [underwriter]\n"
        "          form: {type: object, required: [decision], properties: {decision: {type: string}}}\n"
        "          require:\n            - completion.decision in [\"approved\", \"rejected\"]\n          deadline:\n"
        "            after: 2d\n            steps:\n              - set: {decision: expired}\n          on_complete:\n"
        "            - set: {decision: = completion.decision}\n  - emit: {type: loan.decided, data: {n: = "
        "state.total}}\n";
  }
  return text;
}

TEST(Size, FiveThousandLinesAreCheckedAtOnce) {
  const std::string text = large_definition(5000);
  EXPECT_GE(std::count(text.begin(), text.end(), '\n'), 5000);
  auto best = std::chrono::steady_clock::duration::max();
  for (int i = 0; i < 5; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const Definition definition = load_definition(text, "large.yaml");
    best = std::min(best, std::chrono::steady_clock::now() - begin);
    ASSERT_TRUE(definition.valid()) << format_diagnostic("large.yaml", definition.diagnostics.front());
  }
  const auto ms = std::chrono::duration<double, std::milli>(best).count();
  std::cout << "5 000 lines: " << ms << " ms\n";
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(ms, 100);
#else
  EXPECT_LT(ms, 2000);  // without optimisation, or with a sanitizer
#endif
}

}  // namespace
}  // namespace cairn
