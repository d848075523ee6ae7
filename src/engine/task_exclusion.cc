#include "engine/task_requests.h"

namespace cairn {

// The row has the exclusion of the moment when the task was opened. Who may have the task is decided now.
Result<TaskRow> TaskRequests::with_current_exclusion(TaskRow task, const TaskChange& change) {
  const bool assigns = change.kind == TaskChange::Kind::assign || change.kind == TaskChange::Kind::reassign;
  const bool open = task.status == TaskStatus::open || task.status == TaskStatus::assigned;
  if (!assigns || !open) return task;
  auto excluded = deliveries_.excluded(task.instance, task.id);
  if (excluded) {
    task.exclude = std::move(*excluded);
  } else if (excluded.error().code == ErrorCode::unavailable || excluded.error().code == ErrorCode::invalid) {
    return std::move(excluded).error();  // the store, or an `exclude` that cannot be evaluated now
  }
  return task;  // an instance that cannot be read: as when the task was opened
}

}  // namespace cairn
