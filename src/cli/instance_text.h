// Prints an instance for people: its progress and what it waits for.
#pragma once

#include <ostream>
#include <string>

#include "base/json.h"

namespace cairn::cli {

// `document` is the instance as returned by the API, `tree` its text tree, which may be empty.
void print_instance(std::ostream& out, const Json& document, const std::string& tree);

}  // namespace cairn::cli
