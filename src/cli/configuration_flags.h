// The settings of a server on the command line: each has a flag, a variable and a key in the file.
#pragma once

#include <vector>

#include "cli/arguments.h"
#include "config/configuration.h"

namespace cairn::cli {

// A flag for every setting, and --config.
std::vector<Flag> configuration_flags();
Result<config::Configuration> read_configuration(const Arguments& arguments);

}  // namespace cairn::cli
