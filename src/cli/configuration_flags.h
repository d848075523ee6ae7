// The settings of a server as command-line flags. Each setting also has a variable and a key in the file.
#pragma once

#include <vector>

#include "cli/arguments.h"
#include "config/configuration.h"

namespace cairn::cli {

// One flag per setting, and --config.
std::vector<Flag> configuration_flags();
Result<config::Configuration> read_configuration(const Arguments& arguments);

}  // namespace cairn::cli
