// An instance for people: one look says how far it is and why it waits.
#pragma once

#include <ostream>
#include <string>

#include "base/json.h"

namespace cairn::cli {

// `document` is the instance as the API gives it, `tree` its text tree, which may be empty.
void print_instance(std::ostream& out, const Json& document, const std::string& tree);

}  // namespace cairn::cli
