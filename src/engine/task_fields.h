// The fields that people changed after the step opened the task. Expressions see them as `task` (rule S4).
#pragma once

#include "base/json.h"
#include "instance/snapshot.h"
#include "store/task_store.h"

namespace cairn {

Json fields_of(const TaskRow& task);
// The fields of the tasks whose deadline or reminder is this timer, by id; null if it belongs to no task.
Result<Json> fields_beside(TaskStore& store, const Snapshot& snapshot, const WaitToken& timer);

}  // namespace cairn
