// cairn version
#pragma once

#include "cli/command.h"

namespace cairn::cli {

const CommandSpec& version_spec();
int run_version(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
