// cairn compile
#pragma once

#include "cli/command.h"

namespace cairn::cli {

const CommandSpec& compile_spec();
int run_compile(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
