// cairn runs: external work, and how its types are treated
#pragma once

#include "cli/command.h"

namespace cairn::cli {

const CommandSpec& runs_spec();
int run_runs(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
