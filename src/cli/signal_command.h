// cairn signal: sends a signal to one instance, or to all that wait for it
#pragma once

#include "cli/command.h"

namespace cairn::cli {

const CommandSpec& signal_spec();
int run_signal(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
