// Work that has stalled: open tasks that have not been touched for long, and open instances without progress. Both end
// through the engine, as an operator would end them: with history, audit rows and events. Operators opt in
// (`keep.stale_tasks`, `keep.stale_instances`).
//
// - A task is stale if it has no event for the period (a comment counts), its due time is not ahead, and its step has
//   no timer ahead: a deadline, a reminder, an option of `first`. The step fails (rule S38).
// - An instance is stale if nothing about it has changed for the period, and nothing will change by itself. That is: no
//   commit, no change of a task or a run, no live lease, no message, no timer or due time ahead. The same holds for its
//   open children. The root of the tree is cancelled, and its children with it.
#pragma once

#include <cstddef>
#include <functional>

#include "engine/core.h"

namespace cairn {

// Asked before each piece of work: whether to continue. An error ends the sweep.
using MayContinue = std::function<Result<bool>()>;

// Both answer how many they ended. What changes in between is left alone.
Result<std::size_t> expire_stale_tasks(EngineCore& core, Duration age, const MayContinue& may_continue);
Result<std::size_t> cancel_stale_instances(EngineCore& core, Duration age, const MayContinue& may_continue);

}  // namespace cairn
