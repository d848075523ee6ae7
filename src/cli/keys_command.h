// `cairn keys`.
#pragma once

#include "cli/command.h"

namespace cairn::cli {

const CommandSpec& keys_spec();
int run_keys(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
