// The progress of an instance as the overlay of its definition's diagram: from its snapshot, its execution log and the
// runs that it waits for.
#pragma once

#include <vector>

#include "definition/program.h"
#include "render/overlay.h"
#include "store/instance_store.h"
#include "store/run_store.h"

namespace cairn::api {

// Pure. `runs` are those that the snapshot waits for; `history` is the whole log, oldest first.
render::Overlay progress_of(const Program& program, const Snapshot& snapshot, const std::vector<HistoryRow>& history,
                            const std::vector<RunRow>& runs, Timestamp now);

// The same, read from a store.
Result<render::Overlay> read_progress(InstanceStore& instances, RunStore& runs, const Program& program,
                                      const Snapshot& snapshot);

}  // namespace cairn::api
