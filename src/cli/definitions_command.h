// `cairn definitions`.
#pragma once

#include "cli/command.h"

namespace cairn::cli {

const CommandSpec& definitions_spec();
int run_definitions(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
