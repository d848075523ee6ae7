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

}  // namespace cairn::cli
