// `cairn cancel`.
#pragma once

#include "cli/command.h"

namespace cairn::cli {

const CommandSpec& cancel_spec();
int run_cancel(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
