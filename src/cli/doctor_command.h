// `cairn doctor`.
#pragma once

#include "cli/command.h"

namespace cairn::cli {

const CommandSpec& doctor_spec();
int run_doctor(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
