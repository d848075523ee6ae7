// The heart: decides what happens next. Reads only its arguments and writes nothing, so the same
// inputs give the same Advance on every machine and on every replay.
#pragma once

#include "base/limits.h"
#include "definition/program.h"
#include "instance/advance.h"
#include "instance/event.h"
#include "instance/snapshot.h"

namespace cairn {

// What the operator gave the server; part of the input of every advance.
struct Setting {
  Json config = Json::object();
  Limits limits;
};

// The first event of an instance. ErrorCode::invalid when the input does not fit its schema.
Result<Advance> start(const Program& program, const Setting& setting, const Event& started);

// Any later event. An error only when the event is refused and changes nothing: a completion that
// the form, a guard or the exclusion refuses (invalid, not_allowed), an operator's request that does
// not fit the status (conflict). Errors of the workflow itself are part of the Advance.
Result<Advance> advance(const Program& program, const Setting& setting, const Snapshot& before, const Event& event);

}  // namespace cairn
