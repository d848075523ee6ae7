#include "coverage.h"

#include <array>
#include <cctype>

#include "plan.h"

namespace cairn::sim {

namespace {

constexpr std::array step_kinds = {"set",           "reference", "task",  "call", "if",     "switch",
                                   "repeat",        "parallel",  "first", "wait", "signal", "subworkflow",
                                   "continue_with", "emit",      "try",   "undo", "fail",   "complete"};
static_assert(step_kinds.size() == std::variant_size_v<StepBody>);

constexpr std::array lanes = {"steps",    "then",       "else",       "case",      "default", "repeat",
                              "parallel", "option",     "try",        "catch",     "finally", "on_complete",
                              "deadline", "on_failure", "on_timeout", "compensate"};

// All but `now`, `watch` and what only describes a store.
constexpr std::array verbs = {"append_audit",
                              "change_run",
                              "change_task",
                              "claim_outbox",
                              "commit",
                              "discard_dead_letter",
                              "drop_lock",
                              "exhausted_runs",
                              "find_api_key",
                              "find_definition",
                              "find_document",
                              "find_instance",
                              "find_key",
                              "find_run",
                              "find_schedule",
                              "find_snapshot",
                              "find_token_users",
                              "find_task",
                              "give_back",
                              "give_back_message",
                              "history",
                              "hold_lock",
                              "hold_outbox",
                              "lease_runs",
                              "list_api_keys",
                              "list_audit",
                              "list_dead_letters",
                              "list_definitions",
                              "list_deliveries",
                              "list_documents",
                              "list_instances",
                              "list_messages",
                              "list_outbox",
                              "list_run_types",
                              "list_runs",
                              "list_schedules",
                              "list_sink_queues",
                              "list_tasks",
                              "list_timers",
                              "list_waits",
                              "mark_deleted",
                              "next_due",
                              "park",
                              "put_api_key",
                              "put_dead_letter",
                              "put_definition",
                              "put_document",
                              "put_run_type",
                              "put_schedule",
                              "put_token_user",
                              "record_signal",
                              "remove_document",
                              "remove_run_type",
                              "remove_schedule",
                              "replay_dead_letter",
                              "resend_outbox",
                              "retire_definition",
                              "retire_instances",
                              "retire_rows",
                              "revoke_api_key",
                              "run_events",
                              "schema_version",
                              "record_sink_results",
                              "submit_run",
                              "submit_runs",
                              "take_messages",
                              "take_schedules",
                              "take_timers",
                              "task_events"};

}  // namespace

std::string kind_of(const StepBody& body) { return step_kinds[body.index()]; }

std::string lane_of(const std::string& lane) {
  // option0.on_complete is an on_complete; parallel.NAME a parallel; catch0 a catch.
  if (lane.ends_with("on_complete")) return "on_complete";
  std::string name = lane.substr(0, lane.find('.'));
  while (!name.empty() && std::isdigit(static_cast<unsigned char>(name.back())) != 0) name.pop_back();
  return name;
}

std::vector<std::string> missing(const std::map<std::string, std::uint64_t>& reached) {
  std::vector<std::string> names;
  const auto ask = [&](const std::string& name) {
    if (!reached.contains(name)) names.push_back(name);
  };
  for (const char* kind : step_kinds) ask(std::string("step ") + kind);
  for (const char* lane : lanes) ask(std::string("lane ") + lane);
  for (const char* verb : verbs) ask(std::string("verb ") + verb);
  ask("batch done");
  ask("batch refused");
  for (std::size_t i = 0; i < fault_count; ++i) ask(std::string("fault ") + to_string(static_cast<Fault>(i)));
  return names;
}

}  // namespace cairn::sim
