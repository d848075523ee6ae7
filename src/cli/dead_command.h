// cairn dead list|replay|discard: dead letters
#pragma once

#include "cli/command.h"

namespace cairn::cli {

const CommandSpec& dead_spec();
int run_dead(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
