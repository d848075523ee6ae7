// `cairn serve`.
#pragma once

#include "cli/command.h"

namespace cairn::cli {

const CommandSpec& serve_spec();
int run_serve(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
