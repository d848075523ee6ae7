// cairn why ID: what an instance waits for, and how to unblock it
#pragma once

#include "cli/command.h"

namespace cairn::cli {

const CommandSpec& why_spec();
int run_why(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
