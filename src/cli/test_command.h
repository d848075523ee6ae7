// `cairn test`: scenario files (docs/testing.md).
#pragma once

#include <istream>
#include <ostream>
#include <span>
#include <string>

#include "cli/arguments.h"

namespace cairn::cli {

const CommandSpec& test_spec();
int run_test(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
