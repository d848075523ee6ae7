// What people have changed of an open task since its step opened it, as `task` in scope shows it (rule S4).
#pragma once

#include "base/json.h"
#include "instance/snapshot.h"
#include "store/task_store.h"

namespace cairn {

Json fields_of(const TaskRow& task);
// Of the tasks that wait beside a timer, their deadline or reminder, by id; null when it has none beside it.
Result<Json> fields_beside(TaskStore& store, const Snapshot& snapshot, const WaitToken& timer);

}  // namespace cairn
