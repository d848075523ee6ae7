// Requests of people about human tasks. Completing a task advances its instance; other changes affect only its row.
// The rules for `done` are those of Deliveries. The overloads without `done` block. Safe from several threads.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cairn/requests.h"
#include "engine/context.h"
#include "engine/deliveries.h"
#include "engine/instance_answer.h"

namespace cairn {

struct TaskCompletion {
  TaskId task;
  Json payload;
  std::optional<std::uint64_t> state_version;  // of the task's row, if the caller has seen it
  std::string idempotency_key;
  Actor actor;
};

class TaskRequests {
 public:
  TaskRequests(EngineContext& context, Deliveries& deliveries)
      : context_(context), instances_(context.store), tasks_(context.store), deliveries_(deliveries) {}

  // Errors: not_allowed for the wrong person, conflict if the task is closed or has changed.
  void complete(TaskCompletion completion, Done<Result<InstanceAnswer>> done);
  Result<InstanceAnswer> complete(TaskCompletion completion);
  // `assignee_roles`: the roles of the new assignee, if known; an assignee who cannot complete the task is refused.
  using Roles = std::optional<std::vector<std::string>>;
  void change(TaskChange change, Actor actor, Roles assignee_roles, Done<Result<TaskRow>> done);
  Result<TaskRow> change(const TaskChange& change, const Actor& actor, const Roles& assignee_roles = {});
  // Ends the open task: the step that waits for it fails with `timeout`, `task_stale` (rule S38). False if the row has
  // changed since it was read, or its instance is suspended or has ended.
  Result<bool> expire(const TaskRow& seen, const std::string& reason, const Actor& actor);

 private:
  struct Completing;
  // On a thread that may call the store.
  void try_complete(const std::shared_ptr<Completing>& completing);
  // The delivery to make, or the answer to a repeat.
  Result<std::variant<InstanceAnswer, Delivery>> delivery_of(Completing& completing);
  // The answer that was stored with the key, if the key is known.
  Result<std::optional<KeyAnswer>> find_key(Completing& completing);
  void conclude(const std::shared_ptr<Completing>& completing, Deliveries::Outcome delivered);
  Result<InstanceAnswer> repeated(const Completing& completing, const Json& first, bool same_request);
  Result<void> check(const TaskCompletion& completion) const;
  Result<void> check(const TaskChange& change, const Actor& actor) const;
  // The row with the people who may not have the task now, if the change assigns it (rule S36).
  Result<TaskRow> with_current_exclusion(TaskRow task, const TaskChange& change);
  // The trace that events about an instance carry (carried_trace.h). It never changes.
  std::string trace_of(const InstanceId& id);

  EngineContext& context_;
  InstanceStore& instances_;
  TaskStore& tasks_;
  Deliveries& deliveries_;
};

}  // namespace cairn
