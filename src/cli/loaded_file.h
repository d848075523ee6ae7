// One definition named on the command line, read and checked.
#pragma once

#include <istream>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "definition/definition.h"

namespace cairn::cli {

// Reads `path` (or `in` for "-") into `definition` and prints its findings on `err`. Returns the exit code: 0 if it is
// valid, 8 if it is not, 2 if the file cannot be read. Messages begin with `command`.
int load_file(std::string_view command, const std::string& path, std::istream& in, std::ostream& err,
              Definition& definition);

// Writes `text` to the file, or to `out` without one. Returns the exit code.
int write_result(std::string_view command, const std::string& text, const std::optional<std::string>& file,
                 std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
