// `cairn watch`.
#pragma once

#include "cli/command.h"

namespace cairn::cli {

const CommandSpec& watch_spec();
int run_watch(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
