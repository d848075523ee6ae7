// The prompt of `cairn eval` on a terminal.
#pragma once

#include <ostream>

#include "cli/eval_session.h"

namespace cairn::cli {

// Reads from the terminal until :quit or the end of input. Returns the exit code.
int run_eval_prompt(EvalSession& session, std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
