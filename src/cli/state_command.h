// `cairn state`.
#pragma once

#include "cli/command.h"

namespace cairn::cli {

const CommandSpec& state_spec();
int run_state(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
