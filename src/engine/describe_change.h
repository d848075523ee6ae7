// What an operator's request changed, for the audit trail.
#pragma once

#include "instance/event.h"
#include "store/unit.h"

namespace cairn {

// Adds the old and new status, and the old and new values of the state, to the unit's audit rows.
void describe_change(const EventBody& what, const Snapshot& before, Unit& unit);

}  // namespace cairn
