#include "engine/task_requests.h"

#include "base/sha256.h"
#include "engine/check_input.h"
#include "engine/sender_scope.h"
#include "engine/task_conflicts.h"
#include "engine/task_fields.h"
#include "engine/task_rights.h"
#include "store/audit_scope.h"

namespace cairn {

namespace {

std::string key_scope(const TaskCompletion& asked, const std::string& instance = {}) {
  return scoped_keys(asked.actor, "task:" + asked.task.value + instance);
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
  if (task->status != TaskStatus::open && task->status != TaskStatus::assigned) return task_closed(*task);
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
  if (++completing->tries == task_tries_max) return completing->done(task_kept_changing(completing->asked.task));
  deliveries_.defer([this, completing] { try_complete(completing); });
}

Result<InstanceAnswer> TaskRequests::repeated(const Completing& completing, const Json& first, bool same_request) {
  return repeated_answer(instances_, completing.asked.idempotency_key, "completion", first, same_request);
}

}  // namespace cairn
