// Why a task cannot be changed or completed now.
#pragma once

#include "store/task_store.h"

namespace cairn {

inline constexpr int task_tries_max = 20;  // each one means that the task's row changed concurrently

inline Error task_closed(const TaskRow& task) {
  return {ErrorCode::conflict, "task " + task.id.value + " is " + to_string(task.status) + " already"};
}

inline Error task_kept_changing(const TaskId& task) {
  return {ErrorCode::conflict, "task " + task.value + " kept changing; try again"};
}

}  // namespace cairn
