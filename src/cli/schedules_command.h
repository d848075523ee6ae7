// cairn schedules list|show|create|change|pause|resume|trigger|preview|delete
#pragma once

#include "cli/command.h"

namespace cairn::cli {

const CommandSpec& schedules_spec();
int run_schedules(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
