#include "scenario_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace cairn {
namespace {

Result<std::string> read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{ErrorCode::not_found, path.filename().string() + " cannot be read"};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

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

std::vector<Scenario> read_scenario_file(const std::string& file) {
  const std::filesystem::path path = std::filesystem::path(SCENARIOS_DIR) / file;
  const auto text = read_file(path);
  EXPECT_TRUE(text) << text.error().message;
  if (!text) return {};
  auto scenarios =
      read_scenarios(*text, file, [&](const std::string& name) { return read_file(path.parent_path() / name); });
  EXPECT_TRUE(scenarios) << scenarios.error().message;
  if (!scenarios) return {};
  return std::move(*scenarios);
}

std::string name_of_file(const ::testing::TestParamInfo<std::string>& file) {
  std::string name = file.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

}  // namespace cairn
