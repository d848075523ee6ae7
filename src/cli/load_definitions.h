// Definitions that a command runs: read, checked and reported as `cairn validate` does.
#pragma once

#include <istream>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "base/limits.h"
#include "definition/definition.h"
#include "interpreter/definition_index.h"

namespace cairn::cli {

// The program in the file, or the exit code: 2 when it cannot be read, 8 when it is invalid.
// Findings, warnings too, go to `err`.
Result<std::shared_ptr<const Program>, int> load_program(const std::string& command, const std::string& file,
                                                         const Limits& limits, std::istream& in, std::ostream& err);
// Every definition in these files and folders, added to `index`. 0 or the exit code.
int load_programs(const std::string& command, const std::vector<std::string>& paths, const Limits& limits,
                  DefinitionIndex& index, std::istream& in, std::ostream& err);

}  // namespace cairn::cli
