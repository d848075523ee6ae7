// cairn start NAME|FILE: starts an instance
#pragma once

#include "cli/command.h"

namespace cairn::cli {

const CommandSpec& start_spec();
int run_start(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
