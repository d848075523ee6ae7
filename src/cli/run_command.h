// `cairn run`: one instance in memory (docs/semantics.md, rules R1 to R15).
#pragma once

#include <istream>
#include <ostream>
#include <span>
#include <string>

#include "cli/arguments.h"

namespace cairn::cli {

const CommandSpec& run_spec();
int run_run(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
