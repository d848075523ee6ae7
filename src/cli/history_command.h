// cairn history ID: what happened to an instance
#pragma once

#include "cli/command.h"

namespace cairn::cli {

const CommandSpec& history_spec();
int run_history(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
