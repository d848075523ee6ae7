// cairn bench: what this machine does with this build
#pragma once

#include "cli/command.h"

namespace cairn::cli {

const CommandSpec& bench_spec();
int run_bench(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
