// `cairn skip`.
#pragma once

#include "cli/command.h"

namespace cairn::cli {

const CommandSpec& skip_spec();
int run_skip(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
