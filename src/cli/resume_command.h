// `cairn resume`.
#pragma once

#include "cli/command.h"

namespace cairn::cli {

const CommandSpec& resume_spec();
int run_resume(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
