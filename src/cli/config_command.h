// `cairn config`.
#pragma once

#include "cli/command.h"

namespace cairn::cli {

const CommandSpec& config_spec();
int run_config(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
