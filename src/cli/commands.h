// Every command of `cairn`. NAME_spec says what the command takes and run_NAME runs it. Both are in NAME_command.cc,
// or in operator_commands.cc. commands.cc lists the commands in the order of `cairn --help`.
#pragma once

#include "cli/command.h"

namespace cairn::cli {

// Servers
SpecFunction dev_spec, serve_spec, config_spec, keys_spec, audit_spec;
RunFunction run_dev, run_serve, run_config, run_keys, run_audit;

// Data
SpecFunction check_data_spec, eval_spec;
RunFunction run_check_data, run_eval;

// Definitions
SpecFunction validate_spec, compile_spec, decompile_spec, schema_spec, render_spec, definitions_spec;
RunFunction run_validate, run_compile, run_decompile, run_schema, run_render, run_definitions;
SpecFunction run_spec, test_spec;
RunFunction run_run, run_test;

// Instances
SpecFunction start_spec, list_spec, show_spec, why_spec, history_spec, watch_spec, signal_spec, signals_spec;
RunFunction run_start, run_list, run_show, run_why, run_history, run_watch, run_signal, run_signals;
SpecFunction cancel_spec, suspend_spec, resume_spec, retry_spec, skip_spec, state_spec;
RunFunction run_cancel, run_suspend, run_resume, run_retry, run_skip, run_state;

// Tasks
SpecFunction tasks_spec, task_spec;
RunFunction run_tasks, run_task;

// Operations
SpecFunction runs_spec, schedules_spec, dead_spec, bulk_spec, migrate_spec, verify_spec, doctor_spec;
RunFunction run_runs, run_schedules, run_dead, run_bulk, run_migrate, run_verify, run_doctor;

// About cairn
SpecFunction version_spec, completion_spec;
RunFunction run_version, run_completion;

}  // namespace cairn::cli
