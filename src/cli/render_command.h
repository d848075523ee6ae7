// cairn render: the picture of a definition.
#pragma once

#include "cli/command.h"

namespace cairn::cli {

const CommandSpec& render_spec();
int run_render(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
