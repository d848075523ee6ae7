// cairn list: the instances of a store
#pragma once

#include "cli/command.h"

namespace cairn::cli {

const CommandSpec& list_spec();
int run_list(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
