#include "generator.h"

#include <gtest/gtest.h>

#include <set>

#include "definition/definition.h"

namespace cairn::sim {
namespace {

TEST(Generator, EveryCaseIsValid) {
  int definitions = 0;
  for (std::uint64_t seed = 1; seed <= 5000; ++seed) {
    const GeneratedCase made = generate_case(seed);
    for (const Json& source : made.definitions) {
      ++definitions;
      const Definition definition = definition_of(source);
      if (definition.valid()) continue;
      std::string findings;
      for (const Diagnostic& finding : definition.diagnostics) {
        if (finding.severity == Diagnostic::Severity::error) findings += format_diagnostic("", finding) + "\n";
      }
      FAIL() << "seed " << seed << "\n" << findings << write_json(source);
    }
  }
  EXPECT_GT(definitions, 5000);
}

TEST(Generator, TheSameSeedGivesTheSameCase) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const GeneratedCase once = generate_case(seed);
    const GeneratedCase again = generate_case(seed);
    EXPECT_EQ(once.definitions, again.definitions) << "seed " << seed;
    EXPECT_EQ(once.input, again.input) << "seed " << seed;
  }
}

void collect_types(const Json& value, std::set<std::string>& types) {
  if (value.is_array()) {
    for (const Json& item : value.items()) collect_types(item, types);
  } else if (value.is_object()) {
    if (value.find("type") && value.find("id")) types.emplace(value["type"].as_string());
    for (const auto& member : value.members()) collect_types(member.value, types);
  }
}

TEST(Generator, EveryStepKindOccurs) {
  std::set<std::string> types;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    for (const Json& source : generate_case(seed).definitions) collect_types(definition_of(source).canonical, types);
  }
  const std::set<std::string> all = {"call",   "complete", "continue_with", "emit",   "fail", "first",
                                     "if",     "parallel", "reference",     "repeat", "set",  "signal",
                                     "switch", "task",     "try",           "undo",   "wait", "subworkflow"};
  EXPECT_EQ(types, all);
}

}  // namespace
}  // namespace cairn::sim
