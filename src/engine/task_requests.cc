#include "engine/task_requests.h"

#include "base/limit_refusals.h"
#include "base/sha256.h"
#include "engine/check_input.h"
#include "engine/sender_scope.h"
#include "engine/task_fields.h"
#include "engine/task_rights.h"
#include "instance/carried_trace.h"
#include "store/audit_scope.h"

namespace cairn {

namespace {

constexpr int tries_max = 20;  // each one means that the task's row changed concurrently

Error closed(const TaskRow& task) {
  return {ErrorCode::conflict, "task " + task.id.value + " is " + to_string(task.status) + " already"};
}

std::string key_scope(const TaskCompletion& asked, const std::string& instance = {}) {
  return scoped_keys(asked.actor, "task:" + asked.task.value + instance);
}

Error kept_changing(const TaskId& task) {
  return {ErrorCode::conflict, "task " + task.value + " kept changing; try again"};
}

}  // namespace

// One completion until it is answered.
struct TaskRequests::Completing {
  TaskCompletion asked;
  Done<Result<InstanceAnswer>> done;
  std::optional<IdempotencyKey> key = {};
  AuditScope* audit_scope = AuditScope::current();  // lives until the caller is answered
  int tries = 0;
};

Result<void> TaskRequests::check(const TaskCompletion& completion) const {
  const Limits& limits = context_.options.limits;
  CAIRN_TRY_VOID(check_incoming(completion.payload, "the completion", limits));
  CAIRN_TRY_VOID(check_incoming_text(completion.actor.name, "the actor", limits));
  return check_incoming_text(completion.idempotency_key, "the idempotency key", limits);
}

void TaskRequests::complete(TaskCompletion completion, Done<Result<InstanceAnswer>> done) {
  if (auto refused = deliveries_.overload()) return done(std::move(*refused));
  if (auto checked = check(completion); !checked) {
    return deliveries_.defer([done = std::move(done), error = std::move(checked).error()] { done(error); });
  }
  auto completing = std::make_shared<Completing>(Completing{std::move(completion), std::move(done)});
  if (const TaskCompletion& asked = completing->asked; !asked.idempotency_key.empty()) {
    completing->key = IdempotencyKey{
        key_scope(asked), asked.idempotency_key,
        sha256_hex(write_json(Json::object({{"by", asked.actor.name}, {"payload", asked.payload}}))), Json()};
  }
  deliveries_.defer([this, completing = std::move(completing)] { try_complete(completing); });
}

Result<InstanceAnswer> TaskRequests::complete(TaskCompletion completion) {
  return deliveries_.wait_for<Result<InstanceAnswer>>(
      [&](Done<Result<InstanceAnswer>> done) { complete(std::move(completion), std::move(done)); });
}

void TaskRequests::try_complete(const std::shared_ptr<Completing>& completing) {
  auto next = delivery_of(*completing);
  if (!next) return completing->done(std::move(next).error());
  if (auto* known = std::get_if<InstanceAnswer>(&*next)) return completing->done(std::move(*known));
  std::optional<AuditScope::Enter> scope;
  if (completing->audit_scope != nullptr) scope.emplace(*completing->audit_scope);
  deliveries_.deliver(std::get<Delivery>(std::move(*next)), [this, completing](Deliveries::Outcome delivered) {
    conclude(completing, std::move(delivered));
  });
}

// The id of a task derives from the id of its instance. If the key was used for the same task of a removed instance, it
// is a new key for the instance that has the id now, with its own scope.
Result<std::optional<KeyAnswer>> TaskRequests::find_key(Completing& completing) {
  IdempotencyKey& key = *completing.key;
  CAIRN_TRY(auto known, instances_.find_key(key.scope, key.key));
  if (!known) return known;
  CAIRN_TRY(const auto row, instances_.find_instance({std::string(known->answer.text_or("instance", ""))}));
  if (!row || !tells_of_predecessor(known->answer, row->started_at)) return known;
  key.scope = key_scope(completing.asked, " " + std::to_string(row->started_at.unix_ms()));
  return instances_.find_key(key.scope, key.key);
}

Result<std::variant<InstanceAnswer, Delivery>> TaskRequests::delivery_of(Completing& completing) {
  using Next = std::variant<InstanceAnswer, Delivery>;
  const TaskCompletion& asked = completing.asked;
  if (completing.key) {
    CAIRN_TRY(const auto known, find_key(completing));
    if (known) {
      CAIRN_TRY(InstanceAnswer again,
                repeated(completing, known->answer, known->request_hash == completing.key->request_hash));
      return Next(std::move(again));
    }
  }
  CAIRN_TRY(const auto task, tasks_.find_task(asked.task));
  if (!task) return Error{ErrorCode::not_found, "no task " + asked.task.value};
  if (task->status != TaskStatus::open && task->status != TaskStatus::assigned) return closed(*task);
  if (asked.state_version && *asked.state_version != task->state_version) {
    return Error{ErrorCode::conflict, "stale_version: task " + task->id.value + " is at state version " +
                                          std::to_string(task->state_version)};
  }
  if (auto refused = refuse_completion(*task, asked.actor)) return *refused;
  Delivery delivery;
  delivery.instance = task->instance;
  delivery.actor = asked.actor.name;
  delivery.what = TaskCompleted{asked.task, asked.actor.name, asked.payload, fields_of(*task)};
  delivery.cause.task = Unit::TaskGuard{asked.task, task->state_version};
  delivery.cause.key = completing.key;
  return Next(std::move(delivery));
}

void TaskRequests::conclude(const std::shared_ptr<Completing>& completing, Deliveries::Outcome delivered) {
  if (!delivered) return completing->done(std::move(delivered).error().error);
  switch (delivered->kind) {
    case Delivered::Kind::applied: return completing->done(answer_of(std::move(delivered)));
    case Delivered::Kind::duplicate_key:
      return deliveries_.defer([this, completing, first = std::move(*delivered)] {
        completing->done(repeated(*completing, first.answer, first.same_request));
      });
    case Delivered::Kind::stale:
    case Delivered::Kind::duplicate_signal: break;
  }
  if (++completing->tries == tries_max) return completing->done(kept_changing(completing->asked.task));
  deliveries_.defer([this, completing] { try_complete(completing); });
}

Result<InstanceAnswer> TaskRequests::repeated(const Completing& completing, const Json& first, bool same_request) {
  return repeated_answer(instances_, completing.asked.idempotency_key, "completion", first, same_request);
}

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
  for (int attempt = 0; attempt < tries_max; ++attempt) {
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
      case TaskChanged::Kind::closed: return closed(changed.row);
      case TaskChanged::Kind::taken:
        return Error{ErrorCode::conflict, "task " + change.task.value + " is assigned to " + changed.row.assignee};
    }
  }
  return kept_changing(change.task);
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
