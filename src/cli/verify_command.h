// cairn verify: every invariant of a store
#pragma once

#include "cli/command.h"

namespace cairn::cli {

const CommandSpec& verify_spec();
int run_verify(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
