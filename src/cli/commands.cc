// The list of commands, in the order in which `cairn --help` shows them.
#include "cli/check_data_command.h"
#include "cli/command.h"
#include "cli/compile_command.h"
#include "cli/completion_command.h"
#include "cli/decompile_command.h"
#include "cli/eval_command.h"
#include "cli/render_command.h"
#include "cli/run_command.h"
#include "cli/schema_command.h"
#include "cli/validate_command.h"
#include "cli/version_command.h"

namespace cairn::cli {

const std::vector<Command>& all_commands() {
  static const std::vector<Command> commands{
      {"Data", check_data_spec, run_check_data},
      {"Data", eval_spec, run_eval},
      {"Definitions", validate_spec, run_validate},
      {"Definitions", compile_spec, run_compile},
      {"Definitions", decompile_spec, run_decompile},
      {"Definitions", schema_spec, run_schema},
      {"Definitions", render_spec, run_render},
      {"Definitions", run_spec, run_run},
      {"About cairn", version_spec, run_version},
      {"About cairn", completion_spec, run_completion},
  };
  return commands;
}

}  // namespace cairn::cli
