// The heart: decides what happens next. Reads only its arguments and writes nothing, so the same
// inputs give the same Advance on every machine and on every replay.
#pragma once

#include "base/limits.h"
#include "definition/program.h"
#include "instance/advance.h"
#include "instance/event.h"
#include "instance/snapshot.h"
#include "interpreter/definition_index.h"

namespace cairn {

// What the operator gave the server; part of the input of every advance.
struct Setting {
  Json config = Json::object();
  Limits limits;
  // The definitions that `subworkflow` and `continue_with` may name, as they are at this moment: unknown
  // ones fail at the step, the newest version is pinned there, the input is checked. Shared with the
  // registry, which replaces it when a definition is deployed. Null: names are taken as they are.
  std::shared_ptr<const DefinitionIndex> known;
  bool trace = false;  // fill Advance::trace
};

// The first event of an instance. ErrorCode::invalid when the input does not fit its schema.
Result<Advance> start(const Program& program, const Setting& setting, const Event& started);

// Any later event. An error only when the event is refused and changes nothing: a completion that
// the form, a guard or the exclusion refuses (invalid, not_allowed), an operator's request that does
// not fit the status (conflict). Errors of the workflow itself are part of the Advance.
Result<Advance> advance(const Program& program, const Setting& setting, const Snapshot& before, const Event& event);

}  // namespace cairn
