// `cairn suspend`.
#pragma once

#include "cli/command.h"

namespace cairn::cli {

const CommandSpec& suspend_spec();
int run_suspend(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
