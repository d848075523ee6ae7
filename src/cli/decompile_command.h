// cairn decompile
#pragma once

#include "cli/command.h"

namespace cairn::cli {

const CommandSpec& decompile_spec();
int run_decompile(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
