// The exit codes of every command (rule R3).
#pragma once

#include "base/result.h"

namespace cairn::cli {

enum ExitCode : int {
  exit_done = 0,
  exit_failed = 1,
  exit_usage = 2,
  exit_not_found = 3,
  exit_not_allowed = 4,
  exit_not_completed = 5,
  exit_conflict = 6,
  exit_unreachable = 7,
  exit_invalid = 8,
  exit_timed_out = 124,
  exit_interrupted = 130,
};

ExitCode exit_code_of(ErrorCode code);

}  // namespace cairn::cli
