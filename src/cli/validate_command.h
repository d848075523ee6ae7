// cairn validate
#pragma once

#include "cli/command.h"

namespace cairn::cli {

const CommandSpec& validate_spec();
int run_validate(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
