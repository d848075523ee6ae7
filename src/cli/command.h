// The commands of `cairn`, one file each. A command declares what it takes and runs on the streams
// it is given, so that tests call it without a process.
#pragma once

#include <istream>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/arguments.h"

namespace cairn::cli {

using RunCommand = int (*)(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

struct Command {
  std::string_view group;        // heading in the list of commands
  const CommandSpec& (*spec)();  // declared in the command's own file
  RunCommand run;
};

const std::vector<Command>& all_commands();

// `cairn ARGS…`: finds the command and runs it. The exit code.
int run_cairn(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

// Reads the arguments; on --help or a wrong call prints what is due and gives the exit code to
// return, else nothing.
std::optional<int> read_arguments(const CommandSpec& spec, std::span<const std::string> args, Arguments& into,
                                  std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
