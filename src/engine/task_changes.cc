// Changes to the row of a task: assign, release, comment, expire. Completing one is in task_requests.cc.
#include "base/limit_refusals.h"
#include "engine/check_input.h"
#include "engine/task_conflicts.h"
#include "engine/task_requests.h"
#include "engine/task_rights.h"
#include "instance/carried_trace.h"

namespace cairn {

std::string TaskRequests::trace_of(const InstanceId& id) {
  if (const auto cached = deliveries_.cached(id)) return carried_by(*cached);
  // If the instance cannot be read, its tasks can still change.
  const auto stored = instances_.find_snapshot(id);
  return stored && *stored ? carried_by(**stored) : std::string();
}

Result<void> TaskRequests::check(const TaskChange& change, const Actor& actor) const {
  const Limits& limits = context_.options.limits;
  CAIRN_TRY_VOID(check_incoming_text(actor.name, "the actor", limits));
  CAIRN_TRY_VOID(check_incoming_text(change.assignee, "the assignee", limits));
  CAIRN_TRY_VOID(check_incoming(Json(change.comment), "the comment", limits));
  if (change.comment.size() > limits.comment_bytes_max) {
    return limit_error("limits.comment_bytes_max", static_cast<std::int64_t>(limits.comment_bytes_max),
                       "the comment is larger than " + std::to_string(limits.comment_bytes_max) + " bytes");
  }
  const bool assigns = change.kind == TaskChange::Kind::assign || change.kind == TaskChange::Kind::reassign;
  if (assigns && change.assignee.empty()) return Error{ErrorCode::invalid, "say to whom the task is assigned"};
  return {};
}

void TaskRequests::change(TaskChange change, Actor actor, Roles assignee_roles, Done<Result<TaskRow>> done) {
  deliveries_.write_elsewhere([this, change = std::move(change), actor = std::move(actor),
                               roles = std::move(assignee_roles)] { return this->change(change, actor, roles); },
                              std::move(done));
}

Result<TaskRow> TaskRequests::change(const TaskChange& change, const Actor& actor, const Roles& assignee_roles) {
  CAIRN_TRY_VOID(check(change, actor));
  TaskChange checked = change;
  checked.actor = actor.name;
  for (int attempt = 0; attempt < task_tries_max; ++attempt) {
    CAIRN_TRY(const auto task, tasks_.find_task(change.task));
    if (!task) return Error{ErrorCode::not_found, "no task " + change.task.value};
    CAIRN_TRY(const TaskRow current, with_current_exclusion(*task, change));
    if (auto refused = refuse_change(current, change, actor, assignee_roles)) return *refused;
    // The rights were checked on this state version. If the assignee changes meanwhile, the change is stale.
    checked.state_version = change.state_version.value_or(task->state_version);
    if (context_.store.kept_events().tasks) checked.trace = trace_of(task->instance);
    CAIRN_TRY(const TaskChanged changed, tasks_.change_task(checked));
    switch (changed.kind) {
      case TaskChanged::Kind::done: return changed.row;
      case TaskChanged::Kind::not_found: return Error{ErrorCode::not_found, "no task " + change.task.value};
      case TaskChanged::Kind::stale:
        if (!change.state_version) continue;
        return Error{ErrorCode::conflict, "stale_version: task " + change.task.value + " is at state version " +
                                              std::to_string(changed.row.state_version)};
      case TaskChanged::Kind::closed: return task_closed(changed.row);
      case TaskChanged::Kind::taken:
        return Error{ErrorCode::conflict, "task " + change.task.value + " is assigned to " + changed.row.assignee};
    }
  }
  return task_kept_changing(change.task);
}

Result<bool> TaskRequests::expire(const TaskRow& seen, const std::string& reason, const Actor& actor) {
  Delivery delivery;
  delivery.instance = seen.instance;
  delivery.actor = actor.name;
  delivery.what = TaskExpired{seen.id, reason};
  delivery.cause.task = Unit::TaskGuard{seen.id, seen.state_version};
  const auto delivered = deliveries_.wait_for<Deliveries::Outcome>(
      [&](Done<Deliveries::Outcome> done) { deliveries_.deliver(std::move(delivery), std::move(done)); });
  if (delivered) return delivered->kind == Delivered::Kind::applied;
  const bool refused = delivered.error().kind == DeliveryError::Kind::refused ||
                       delivered.error().kind == DeliveryError::Kind::no_instance;
  if (refused) return false;
  return delivered.error().error;
}

}  // namespace cairn
