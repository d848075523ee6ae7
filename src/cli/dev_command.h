// cairn dev
#pragma once

#include "cli/command.h"

namespace cairn::cli {

const CommandSpec& dev_spec();
int run_dev(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
