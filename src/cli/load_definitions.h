// Loads the definitions that a command runs: reads and checks them, and reports findings like `cairn validate`.
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

// The program in the file, or the exit code: 2 if it cannot be read, 8 if it is invalid. Errors and warnings are
// printed on `err`.
Result<std::shared_ptr<const Program>, int> load_program(const std::string& command, const std::string& file,
                                                         const Limits& limits, std::istream& in, std::ostream& err);
// Adds every definition in these files and folders to `index`. Returns 0 or the exit code.
int load_programs(const std::string& command, const std::vector<std::string>& paths, const Limits& limits,
                  DefinitionIndex& index, std::istream& in, std::ostream& err);

}  // namespace cairn::cli
