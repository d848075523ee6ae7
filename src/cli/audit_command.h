// `cairn audit`.
#pragma once

#include "cli/command.h"

namespace cairn::cli {

const CommandSpec& audit_spec();
int run_audit(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
