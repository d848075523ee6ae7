// cairn schema
#pragma once

#include "cli/command.h"

namespace cairn::cli {

const CommandSpec& schema_spec();
int run_schema(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
