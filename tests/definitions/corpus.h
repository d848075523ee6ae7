// The definitions that tests use: examples/ and the folders next to this file.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace cairn::corpus {

inline std::filesystem::path root() { return CAIRN_SOURCE_DIR; }

// Sources (*.yaml, *.yml, *.json, not *.test.yaml) of a folder, sorted.
inline std::vector<std::filesystem::path> sources(const std::string& folder) {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(root() / folder)) {
    const std::string name = entry.path().filename().string();
    const std::string ending = entry.path().extension().string();
    if (name.ends_with(".test.yaml")) continue;
    if (ending == ".yaml" || ending == ".yml" || ending == ".json") found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

inline std::vector<std::filesystem::path> valid_sources() {
  std::vector<std::filesystem::path> all = sources("examples");
  for (const auto& path : sources("tests/definitions/valid")) all.push_back(path);
  return all;
}

inline std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace cairn::corpus
