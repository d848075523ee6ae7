// Every scenario file of this folder, each scenario twice: staying in memory, and with everything thrown
// away and read back after each commit. Both must pass, and give the same bytes.
#include "scenario_files.h"

namespace cairn {
namespace {

class Scenarios : public ::testing::TestWithParam<std::string> {};

TEST_P(Scenarios, PassWithAndWithoutRestarts) {
  for (const Scenario& scenario : read_scenario_file(GetParam())) {
    const ScenarioOutcome plain = run_scenario(scenario, false);
    for (const std::string& problem : plain.problems) ADD_FAILURE() << problem;
    const ScenarioOutcome restarted = run_scenario(scenario, true);
    for (const std::string& problem : restarted.problems) ADD_FAILURE() << "after restarts: " << problem;
    EXPECT_FALSE(scenario.steps.empty()) << scenario.name << " expects nothing";
    EXPECT_EQ(plain.commits, restarted.commits) << GetParam() << ": " << scenario.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Files, Scenarios, ::testing::ValuesIn(scenario_files()), name_of_file);

}  // namespace
}  // namespace cairn
