// The definition files that a user names: files, folders or standard input.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace cairn::cli {

// The definitions in a folder and its subfolders, sorted: *.yaml, *.yml and *.json, without *.test.yaml and names that
// begin with a dot. A path that is not a folder is returned unchanged. ErrorCode::not_found if a folder cannot be read
// or contains none.
Result<std::vector<std::string>> definition_files(const std::string& path);
// Whether the name of a file is that of a definition.
bool is_definition_file(const std::string& file);

}  // namespace cairn::cli
