// Tasks: work for people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/rows.h"
#include "store/store_base.h"

namespace cairn {

struct TaskChange {
  enum class Kind { assign, release, reassign, comment };
  Kind kind = Kind::assign;
  TaskId task;
  std::optional<std::uint64_t> state_version;  // the state version of the row that the caller has seen, if any
  std::string actor;
  std::string assignee;  // assign, reassign
  std::string comment;
  std::string trace = {};  // the traceparent that the instance carries, for the event
};
struct TaskChanged {
  enum class Kind { done, not_found, stale, closed, taken };  // taken: already assigned to another user
  Kind kind = Kind::done;
  TaskRow row;
};

class TaskStore : public virtual StoreBase {
 public:
  // Tasks open and close with their instance, in a Unit.
  virtual Result<TaskChanged> change_task(const TaskChange& change) = 0;
  virtual Result<std::optional<TaskRow>> find_task(const TaskId& id) = 0;
  virtual Result<Page<TaskRow>> list_tasks(const TaskFilter& filter, const PageRequest& page) = 0;
  // The events of a task, oldest first. People add comments without end, so programs read pages.
  virtual Result<Page<TaskEvent>> list_task_events(const TaskId& id, const PageRequest& page) = 0;
  // All of them.
  Result<std::vector<TaskEvent>> task_events(const TaskId& id) {
    return all_pages<TaskEvent>([&](const PageRequest& page) { return list_task_events(id, page); });
  }
};

}  // namespace cairn
