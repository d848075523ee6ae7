// src/cli is the command line of `cairn`, one file per command. A command declares its arguments (arguments.h) and runs
// on the streams it is given, so tests call it without a process. Commands that read or change data call the API
// (api_session.h), over HTTP or on a local store. The module may use every other module of the product; no module uses
// it. Read `run_cairn` first; commands.cc lists all commands.
#pragma once

#include <istream>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/arguments.h"

namespace cairn::cli {

// The two functions of a command, as types: commands.h declares all commands with them.
using SpecFunction = const CommandSpec&();
using RunFunction = int(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

struct Command {
  std::string_view group;  // heading in the list of commands
  SpecFunction* spec;
  RunFunction* run;
};

const std::vector<Command>& all_commands();

// Finds the command of `cairn ARGS…` and runs it. Returns the exit code.
int run_cairn(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err);

// Parses the arguments. On --help or an error prints the text and returns the exit code; otherwise empty.
std::optional<int> read_arguments(const CommandSpec& spec, std::span<const std::string> args, Arguments& into,
                                  std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
