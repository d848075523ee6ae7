// cairn task assign|release|reassign|complete|comment: one task
#pragma once

#include "cli/command.h"

namespace cairn::cli {

const CommandSpec& task_spec();
int run_task(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
