// The list of commands, in the order in which `cairn --help` shows them.
#include "cli/commands.h"

namespace cairn::cli {

const std::vector<Command>& all_commands() {
  static const std::vector<Command> commands{
      {"Servers", dev_spec, run_dev},
      {"Servers", serve_spec, run_serve},
      {"Servers", config_spec, run_config},
      {"Servers", keys_spec, run_keys},
      {"Servers", audit_spec, run_audit},
      {"Data", check_data_spec, run_check_data},
      {"Data", eval_spec, run_eval},
      {"Definitions", validate_spec, run_validate},
      {"Definitions", compile_spec, run_compile},
      {"Definitions", decompile_spec, run_decompile},
      {"Definitions", schema_spec, run_schema},
      {"Definitions", render_spec, run_render},
      {"Definitions", definitions_spec, run_definitions},
      {"Definitions", run_spec, run_run},
      {"Definitions", test_spec, run_test},
      {"Instances", start_spec, run_start},
      {"Instances", list_spec, run_list},
      {"Instances", show_spec, run_show},
      {"Instances", why_spec, run_why},
      {"Instances", history_spec, run_history},
      {"Instances", watch_spec, run_watch},
      {"Instances", signal_spec, run_signal},
      {"Instances", signals_spec, run_signals},
      {"Instances", cancel_spec, run_cancel},
      {"Instances", suspend_spec, run_suspend},
      {"Instances", resume_spec, run_resume},
      {"Instances", retry_spec, run_retry},
      {"Instances", skip_spec, run_skip},
      {"Instances", state_spec, run_state},
      {"Tasks", tasks_spec, run_tasks},
      {"Tasks", task_spec, run_task},
      {"Operations", runs_spec, run_runs},
      {"Operations", schedules_spec, run_schedules},
      {"Operations", dead_spec, run_dead},
      {"Operations", bulk_spec, run_bulk},
      {"Operations", migrate_spec, run_migrate},
      {"Operations", verify_spec, run_verify},
      {"Operations", doctor_spec, run_doctor},
      {"About cairn", version_spec, run_version},
      {"About cairn", completion_spec, run_completion},
  };
  return commands;
}

}  // namespace cairn::cli
