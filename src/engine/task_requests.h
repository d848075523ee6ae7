// What people ask of human tasks: completing one advances its instance, other changes only change the task's row. The
// rules for `done` are those of Deliveries. Safe from several threads.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/actor.h"
#include "engine/context.h"
#include "engine/deliveries.h"
#include "engine/instance_answer.h"

namespace cairn {

struct TaskCompletion {
  TaskId task;
  Json payload;
  std::optional<std::uint64_t> version;  // of the task's row, when the caller has seen it
  std::string idempotency_key;
  Actor actor;
};

class TaskRequests {
 public:
  using Done = std::function<void(Result<InstanceAnswer>)>;

  TaskRequests(EngineContext& context, Deliveries& deliveries)
      : context_(context), instances_(context.store), tasks_(context.store), deliveries_(deliveries) {}

  // Errors: not_allowed for the wrong person, conflict when the task is closed or has changed.
  void complete(TaskCompletion completion, Done done);
  Result<InstanceAnswer> complete(TaskCompletion completion);
  // `assignee_roles`: roles of the new assignee, when they are known; one who cannot complete it is refused.
  Result<TaskRow> change(const TaskChange& change, const Actor& actor,
                         const std::optional<std::vector<std::string>>& assignee_roles = {});

 private:
  struct Completing;
  // On a thread that may call the store.
  void try_complete(const std::shared_ptr<Completing>& completing);
  // What is to be delivered, or the answer to a repeat.
  Result<std::variant<InstanceAnswer, Delivery>> delivery_of(Completing& completing);
  // What was kept with the key, if it is known.
  Result<std::optional<KeyAnswer>> find_key(Completing& completing);
  void conclude(const std::shared_ptr<Completing>& completing, Deliveries::Outcome delivered);
  Result<InstanceAnswer> repeated(const Completing& completing, const Json& first, bool same_request);
  Result<void> check(const TaskCompletion& completion) const;
  Result<void> check(const TaskChange& change, const Actor& actor) const;
  // What an instance gives to the events about it (carried_trace.h); never changes.
  std::string trace_of(const InstanceId& id);

  EngineContext& context_;
  InstanceStore& instances_;
  TaskStore& tasks_;
  Deliveries& deliveries_;
};

}  // namespace cairn
