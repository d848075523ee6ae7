// cairn show ID: one instance with its state and waits
#pragma once

#include "cli/command.h"

namespace cairn::cli {

const CommandSpec& show_spec();
int run_show(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
