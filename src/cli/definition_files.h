// The definition files that a user names: files, folders of them, or standard input.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace cairn::cli {

// The definitions in a folder and the folders below it, sorted: *.yaml, *.yml and *.json, without *.test.yaml and
// without what begins with a dot. Anything but a folder is itself. ErrorCode::not_found when a folder cannot be read
// or holds none.
Result<std::vector<std::string>> definition_files(const std::string& path);
// Whether a file in a folder would be one of them, by its name.
bool is_definition_file(const std::string& file);

}  // namespace cairn::cli
