// cairn eval
#pragma once

#include "cli/command.h"

namespace cairn::cli {

const CommandSpec& eval_spec();
int run_eval(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
