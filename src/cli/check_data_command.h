// cairn check-data
#pragma once

#include "cli/command.h"

namespace cairn::cli {

const CommandSpec& check_data_spec();
int run_check_data(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
