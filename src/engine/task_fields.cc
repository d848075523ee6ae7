#include "engine/task_fields.h"

#include <algorithm>

namespace cairn {

Json fields_of(const TaskRow& task) {
  return Json::object({{"assignee", task.assignee.empty() ? Json() : Json(task.assignee)}});
}

Result<Json> fields_beside(TaskStore& store, const Snapshot& snapshot, const WaitToken& timer) {
  Json fields;
  const auto& waits = snapshot.waits;
  const auto fired = std::find_if(waits.begin(), waits.end(), [&](const Wait& wait) { return wait.token == timer; });
  if (fired == waits.end()) return fields;
  for (const Wait& wait : waits) {
    if (wait.kind != WaitKind::task || wait.strand != fired->strand) continue;
    CAIRN_TRY(const auto task, store.find_task({wait.target}));
    if (task) fields.set(wait.target, fields_of(*task));
  }
  return fields;
}

}  // namespace cairn
