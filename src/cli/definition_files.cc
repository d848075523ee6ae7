#include "cli/definition_files.h"

#include <algorithm>
#include <filesystem>

namespace cairn::cli {

namespace fs = std::filesystem;

bool is_definition_file(const std::string& file) {
  const fs::path path(file);
  const std::string name = path.filename().string();
  if (name.starts_with('.') || name.ends_with(".test.yaml") || name.ends_with(".test.yml")) return false;
  const std::string ending = path.extension().string();
  return ending == ".yaml" || ending == ".yml" || ending == ".json";
}

Result<std::vector<std::string>> definition_files(const std::string& path) {
  std::error_code failed;
  if (path == "-" || !fs::is_directory(path, failed)) return std::vector<std::string>{path};
  std::vector<std::string> found;
  fs::recursive_directory_iterator entry(path, failed);
  for (const fs::recursive_directory_iterator end; !failed && entry != end; entry.increment(failed)) {
    if (entry->path().filename().string().starts_with('.')) {
      if (entry->is_directory(failed)) entry.disable_recursion_pending();
    } else if (!entry->is_directory(failed) && is_definition_file(entry->path().string())) {
      found.push_back(entry->path().string());
    }
  }
  if (failed) return Error{ErrorCode::not_found, path + ": " + failed.message()};
  if (found.empty()) return Error{ErrorCode::not_found, path + ": contains no definitions (*.yaml, *.yml, *.json)"};
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace cairn::cli
