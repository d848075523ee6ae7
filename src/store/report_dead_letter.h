// Reports a dead letter as an incident (base/incidents.h).
#pragma once

#include "store/rows.h"

namespace cairn {

// The node of dead letters that a store makes itself. It reports them; the engine and the dispatcher report theirs.
inline constexpr const char* made_by_store = "store";

void report_dead_letter(const DeadLetter& letter);

}  // namespace cairn
