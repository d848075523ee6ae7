// The output of most requests about an instance: its id and its status.
#pragma once

#include <ostream>

#include "base/json.h"
#include "cli/arguments.h"

namespace cairn::cli {

// Prints "ID status", or the document with --json. Returns the exit code.
int print_answer(const Arguments& arguments, const Json& document, std::ostream& out);

}  // namespace cairn::cli
