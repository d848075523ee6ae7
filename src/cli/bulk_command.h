// `cairn bulk`.
#pragma once

#include "cli/command.h"

namespace cairn::cli {

const CommandSpec& bulk_spec();
int run_bulk(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
