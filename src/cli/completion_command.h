// cairn completion bash|zsh|fish
#pragma once

#include "cli/command.h"

namespace cairn::cli {

const CommandSpec& completion_spec();
int run_completion(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
