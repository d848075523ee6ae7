// `cairn migrate`.
#pragma once

#include "cli/command.h"

namespace cairn::cli {

const CommandSpec& migrate_spec();
int run_migrate(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
