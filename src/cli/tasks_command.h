// cairn tasks: open tasks
#pragma once

#include "cli/command.h"

namespace cairn::cli {

const CommandSpec& tasks_spec();
int run_tasks(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
