// Every scenario file of this folder, each scenario twice: staying in memory, and with everything thrown
// away and read back after each commit. Both must pass, and give the same bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "interpreter/scenario.h"

namespace cairn {
namespace {

Result<std::string> read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{ErrorCode::not_found, path.filename().string() + " cannot be read"};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> scenario_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(SCENARIOS_DIR)) {
    if (entry.path().string().ends_with(".test.yaml")) {
      files.push_back(std::filesystem::relative(entry.path(), SCENARIOS_DIR).string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

class Scenarios : public ::testing::TestWithParam<std::string> {};

TEST_P(Scenarios, PassWithAndWithoutRestarts) {
  const std::filesystem::path path = std::filesystem::path(SCENARIOS_DIR) / GetParam();
  const auto text = read_file(path);
  ASSERT_TRUE(text) << text.error().message;
  const auto scenarios =
      read_scenarios(*text, GetParam(), [&](const std::string& name) { return read_file(path.parent_path() / name); });
  ASSERT_TRUE(scenarios) << scenarios.error().message;
  for (const Scenario& scenario : *scenarios) {
    const ScenarioOutcome plain = run_scenario(scenario, false);
    for (const std::string& problem : plain.problems) ADD_FAILURE() << problem;
    const ScenarioOutcome restarted = run_scenario(scenario, true);
    for (const std::string& problem : restarted.problems) ADD_FAILURE() << "after restarts: " << problem;
    EXPECT_FALSE(scenario.steps.empty()) << scenario.name << " expects nothing";
    EXPECT_EQ(plain.commits, restarted.commits) << GetParam() << ": " << scenario.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Files, Scenarios, ::testing::ValuesIn(scenario_files()), [](const auto& parameter) {
  std::string name = parameter.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace cairn
