// Decides whether a run may be changed. Every store asks here and then writes the change in its own way.
#pragma once

#include "store/store.h"

namespace cairn {

// `done` if the store has to make the change, or why the change is refused.
RunChanged::Kind check_change(const RunChange& change, const RunRow& row);

// Whether the refused change still clears the lease: the holder of a cancelled run learns of the cancellation from it.
bool clears_lease(const RunChange& change, const RunRow& row);

}  // namespace cairn
