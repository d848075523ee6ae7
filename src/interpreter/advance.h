// src/interpreter decides what a workflow does next: from a Program, a Snapshot and an Event it computes an Advance. It
// uses src/definition and src/instance, and it does no I/O: no clock, no store, no threads. It reads only its arguments
// and writes nothing. The same inputs give the same Advance on every machine and every replay. Each kind of step has a
// file of its own (step_*.cc) behind steps.h. Read `advance` in this file first, then Machine::run in machine.cc.
#pragma once

#include "base/limits.h"
#include "definition/program.h"
#include "instance/advance.h"
#include "instance/event.h"
#include "instance/snapshot.h"
#include "interpreter/definition_index.h"

namespace cairn {

// The operator's configuration; part of the input of every advance.
struct Setting {
  Json config = Json::object();
  Limits limits;
  // The definitions that `subworkflow` and `continue_with` may name, as deployed at this moment. Unknown names fail at
  // the step. The step pins the newest version and checks the input. The registry shares this index and replaces it
  // when a definition is deployed. Null: names are not checked.
  std::shared_ptr<const DefinitionIndex> known;
  bool trace = false;  // fill Advance::trace
};

// Applies the first event of an instance. ErrorCode::invalid if the input violates its schema.
Result<Advance> start(const Program& program, const Setting& setting, const Event& started);

// Applies any later event. It answers an error only if the event is refused; then nothing changes. A form, a guard or
// the exclusion rejects a completion (invalid, not_allowed), or an operator's request does not fit the status
// (conflict). Errors of the workflow itself are part of the Advance.
Result<Advance> advance(const Program& program, const Setting& setting, const Snapshot& before, const Event& event);

// Who may not have or complete an open task at this state (rule S36). ErrorCode::not_found if the instance does not
// wait for it.
Result<std::vector<std::string>> excluded_now(const Program& program, const Setting& setting, const Snapshot& snapshot,
                                              const TaskId& task, Timestamp now);

}  // namespace cairn
