// The arguments of `cairn run`, read and checked before anything runs.
#pragma once

#include <istream>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/limits.h"
#include "cli/arguments.h"
#include "scenario/rehearsal.h"

namespace cairn::cli {

struct RunArguments {
  struct Answer {
    std::string given;  // as on the command line, for messages
    std::string task;
    std::string user;
    Json payload;
    bool used = false;
  };
  struct Signal {
    std::string given;
    std::string name;
    Json key;
    Json payload;
  };

  std::string file;
  Json input = Json::object();
  std::vector<Answer> answers;
  std::vector<Signal> signals;
  std::vector<CallReply> replies;
  std::vector<std::string> with;
  Json config = Json::object();
  bool skip_time = false;
  bool verbose = false;
};

// The exit code to return when something is wrong or `--help` was asked for; else fills `into`.
std::optional<int> read_run_arguments(std::span<const std::string> args, const Limits& limits, RunArguments& into,
                                      std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
