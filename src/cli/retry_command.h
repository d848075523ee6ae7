// `cairn retry`.
#pragma once

#include "cli/command.h"

namespace cairn::cli {

const CommandSpec& retry_spec();
int run_retry(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
