// What people and other systems ask for.
#include <algorithm>

#include "base/limit_refusals.h"
#include "base/sha256.h"
#include "engine/check_input.h"
#include "engine/coordinator.h"
#include "engine/request_key.h"
#include "engine/sender_scope.h"
#include "engine/task_fields.h"
#include "engine/task_rights.h"
#include "instance/carried_trace.h"

namespace cairn {

namespace {

Error closed(const TaskRow& task) {
  return {ErrorCode::conflict, "task " + task.id.value + " is " + to_string(task.status) + " already"};
}

}  // namespace

Result<InstanceAnswer> Coordinator::answer(Result<Delivered, DeliveryError> delivered, const InstanceId& id) {
  if (!delivered) return std::move(delivered).error().error;
  const Snapshot& after = *delivered->after;
  InstanceAnswer answer{id, after.version, after.status, after.output, false};
  answer.repeated = delivered->kind == Delivered::Kind::duplicate_signal;
  return answer;
}

Result<void> Coordinator::check(const SignalRequest& request) const {
  CAIRN_TRY_VOID(check_incoming(request.payload, "the payload", options_.limits));
  CAIRN_TRY_VOID(check_incoming_key(request.key, "a signal's key", options_.limits));
  CAIRN_TRY_VOID(check_incoming_text(request.name, "the signal's name", options_.limits));
  CAIRN_TRY_VOID(check_incoming_text(request.id, "the signal's id", options_.limits));
  CAIRN_TRY_VOID(check_incoming_text(request.actor.name, "the actor", options_.limits));
  if (request.name.empty()) return Error{ErrorCode::invalid, "a signal has a name"};
  return {};
}

Result<Delivery> Coordinator::delivery_of(const InstanceId& id, const SignalRequest& request) const {
  CAIRN_TRY_VOID(check(request));
  Delivery delivery;
  delivery.instance = id;
  SignalReceived signal{scoped_id(request.actor, request.id), request.name, request.key, request.payload};
  if (signal.id.empty()) {
    signal.id = new_uuid(store_.now());
  } else {
    delivery.cause.inbox = Unit::Inbox{id, signal.id};
  }
  delivery.what = std::move(signal);
  delivery.actor = request.actor.name;
  return delivery;
}

Result<InstanceAnswer> Coordinator::signalled(Result<Delivered, DeliveryError> delivered, const InstanceId& id) {
  if (delivered && delivered->kind == Delivered::Kind::stale) {
    return Error{ErrorCode::conflict,
                 "instance " + id.value + " is " + to_string(delivered->after->status) + " and takes no more signals"};
  }
  return answer(std::move(delivered), id);
}

Result<InstanceAnswer> Coordinator::signal(const InstanceId& id, const SignalRequest& request) {
  CAIRN_TRY(Delivery delivery, delivery_of(id, request));
  return signalled(deliver(std::move(delivery)), id);
}

Result<SignalOutcome> Coordinator::broadcast(const SignalRequest& request, Duration ttl) {
  CAIRN_TRY_VOID(check(request));
  CorrelatedSignal signal;
  signal.remember = !request.id.empty();
  signal.id = request.id.empty() ? new_uuid(store_.now()) : scoped_id(request.actor, request.id);
  signal.name = request.name;
  signal.key = request.key;
  signal.payload = request.payload;
  signal.ttl = ttl;
  signal.kept_per_key_max = options_.limits.signals_per_key_max;
  // Counting all of them takes milliseconds, so that the total is held only roughly.
  constexpr std::uint32_t count_every = 1'024;
  if (broadcasts_.fetch_add(1, std::memory_order_relaxed) % count_every == 0) {
    signal.kept_total_max = options_.limits.signals_total_max;
  }
  auto outcome = store_.record_signal(signal);
  // As long as it is full, everybody is told.
  if (!outcome && signal.kept_total_max > 0 && outcome.error().code == ErrorCode::limit) broadcasts_ = 0;
  return outcome;
}

namespace {

// The id under which a kept signal is stored: as it stands, or with the mark of the sender who chose it. When two
// senders chose it, the operator has to say which one.
Result<std::string> kept_signal_id(Store& store, const InstanceId& instance, std::string id) {
  CAIRN_TRY(const auto snapshot, store.find_snapshot(instance));
  if (!snapshot) return id;
  const auto& kept = snapshot->signals;
  const bool exact = std::any_of(kept.begin(), kept.end(), [&](const BufferedSignal& one) { return one.id == id; });
  if (exact) return id;
  std::string stored;
  for (const BufferedSignal& signal : kept) {
    if (unscoped_id(signal.id) != id) continue;
    if (!stored.empty()) {
      return Error{ErrorCode::conflict, "two senders have a signal " + id + ": " + stored + " and " + signal.id};
    }
    stored = signal.id;
  }
  return stored.empty() ? id : stored;
}

}  // namespace

Result<InstanceAnswer> Coordinator::request(const InstanceId& id, EventBody what, const Actor& actor,
                                            std::optional<std::uint64_t> version) {
  CAIRN_TRY_VOID(check_incoming_text(actor.name, "the actor", options_.limits));
  if (const auto* edit = std::get_if<StateEdited>(&what)) {
    CAIRN_TRY_VOID(check_incoming(edit->merge_patch, "the patch", options_.limits));
  } else if (const auto* skip = std::get_if<SkipRequested>(&what)) {
    CAIRN_TRY_VOID(check_incoming(skip->result, "the result", options_.limits));
  } else if (const auto* cancel = std::get_if<CancelRequested>(&what)) {
    CAIRN_TRY_VOID(check_incoming(Json(cancel->reason), "the reason", options_.limits));
  } else if (const auto* suspend = std::get_if<SuspendRequested>(&what)) {
    CAIRN_TRY_VOID(check_incoming(Json(suspend->reason), "the reason", options_.limits));
  } else if (auto* discarded = std::get_if<SignalDiscarded>(&what)) {
    CAIRN_TRY_VOID(check_incoming_text(discarded->id, "the signal's id", options_.limits));
    CAIRN_TRY(discarded->id, kept_signal_id(store_, id, std::move(discarded->id)));
  }
  Delivery delivery;
  delivery.instance = id;
  delivery.what = std::move(what);
  delivery.actor = actor.name;
  delivery.version = version;
  if (!RequestKey::current().empty()) delivery.cause.inbox = Unit::Inbox{id, RequestKey::current()};
  auto delivered = deliver(delivery);
  if (delivered && delivered->kind == Delivered::Kind::stale) {
    return Error{ErrorCode::conflict, "instance " + id.value + " is " + to_string(delivered->after->status)};
  }
  return answer(std::move(delivered), id);
}

Result<void> Coordinator::remove(const InstanceId& id, const std::string& reason) {
  CAIRN_TRY(const auto row, store_.find_instance(id));
  if (!row) return Error{ErrorCode::not_found, "no instance " + id.value};
  CAIRN_TRY(const bool done, store_.mark_deleted(id, reason));
  if (!done) {
    return Error{ErrorCode::conflict, "instance " + id.value + " is " + to_string(row->status) + "; cancel it first"};
  }
  return {};
}

bool Coordinator::goes_on(const InstanceId& id) const {
  const auto known = cache_.status(id);
  return known && !is_final_or_suspended(*known);
}

Result<Snapshot> Coordinator::wait_for(const InstanceId& id, std::chrono::milliseconds limit) {
  const auto until = std::chrono::steady_clock::now() + limit;
  ResultWaiters::Place place(waiters_, id);
  // Most likely its end is committed here, and handed over: it need not be read back now.
  if (goes_on(id)) place.wait_until(std::min(until, std::chrono::steady_clock::now() + unseen_max));
  for (bool over = false;;) {
    if (auto end = place.end()) return std::move(*end);
    CAIRN_TRY(auto stored, store_.find_snapshot(id));
    if (!stored) return Error{ErrorCode::not_found, "no instance " + id.value};
    if (over || is_final_or_suspended(stored->status)) return std::move(*stored);
    if (stopped_) return Error{ErrorCode::unavailable, "the engine is stopping"};
    over = !place.wait_until(until);
  }
}

Result<InstanceAnswer> Coordinator::complete_task(const TaskCompletion& completion) {
  CAIRN_TRY_VOID(check_incoming(completion.payload, "the completion", options_.limits));
  CAIRN_TRY_VOID(check_incoming_text(completion.actor.name, "the actor", options_.limits));
  CAIRN_TRY_VOID(check_incoming_text(completion.idempotency_key, "the idempotency key", options_.limits));
  const std::string scope = scoped_keys(completion.actor, "task:" + completion.task.value);
  const std::string hash =
      sha256_hex(write_json(Json::object({{"by", completion.actor.name}, {"payload", completion.payload}})));
  const auto repeated = [&](const Json& first, bool same) -> Result<InstanceAnswer> {
    if (!same) {
      return Error{ErrorCode::conflict, "idempotency_key_reused: the idempotency key '" + completion.idempotency_key +
                                            "' was used for another completion"};
    }
    InstanceAnswer again;
    again.instance = {std::string(first.text_or("instance", ""))};
    if (first["version"].is_integer()) again.version = static_cast<std::uint64_t>(first["version"].as_integer());
    again.status = status_from(first.text_or("status", "")).value_or(Status::running);
    again.repeated = true;
    return with_output(std::move(again));
  };
  constexpr int tries_max = 20;  // each one means that the task's row changed under us
  for (int attempt = 0; attempt < tries_max; ++attempt) {
    if (!completion.idempotency_key.empty()) {
      CAIRN_TRY(const auto known, store_.find_key(scope, completion.idempotency_key));
      if (known) return repeated(known->answer, known->request_hash == hash);
    }
    CAIRN_TRY(const auto task, store_.find_task(completion.task));
    if (!task) return Error{ErrorCode::not_found, "no task " + completion.task.value};
    if (task->status != TaskStatus::open && task->status != TaskStatus::assigned) return closed(*task);
    if (completion.version && *completion.version != task->version) {
      return Error{ErrorCode::conflict,
                   "stale_version: task " + task->id.value + " is at version " + std::to_string(task->version)};
    }
    if (auto refused = refuse_completion(*task, completion.actor)) return *refused;
    Delivery delivery;
    delivery.instance = task->instance;
    delivery.actor = completion.actor.name;
    delivery.what = TaskCompleted{completion.task, completion.actor.name, completion.payload, fields_of(*task)};
    delivery.cause.task = Unit::TaskGuard{completion.task, task->version};
    if (!completion.idempotency_key.empty()) {
      delivery.cause.key = IdempotencyKey{scope, completion.idempotency_key, hash, Json()};
    }
    auto delivered = deliver(delivery);
    if (!delivered) return std::move(delivered).error().error;
    if (delivered->kind == Delivered::Kind::duplicate_key) return repeated(delivered->answer, delivered->same_request);
    if (delivered->kind == Delivered::Kind::applied) return answer(std::move(delivered), task->instance);
  }
  return Error{ErrorCode::conflict, "task " + completion.task.value + " kept changing; try again"};
}

std::string Coordinator::trace_of(const InstanceId& id) {
  if (const auto cached = cache_.find(id)) return carried_by(*cached);
  // One that cannot be read has tasks that can be handed on all the same.
  const auto stored = store_.find_snapshot(id);
  return stored && *stored ? carried_by(**stored) : std::string();
}

Result<TaskRow> Coordinator::change_task(const TaskChange& change, const Actor& actor,
                                         const std::optional<std::vector<std::string>>& assignee_roles) {
  CAIRN_TRY_VOID(check_incoming_text(actor.name, "the actor", options_.limits));
  CAIRN_TRY_VOID(check_incoming_text(change.assignee, "the assignee", options_.limits));
  CAIRN_TRY_VOID(check_incoming(Json(change.comment), "the comment", options_.limits));
  if (change.comment.size() > options_.limits.comment_bytes_max) {
    const std::size_t bytes_max = options_.limits.comment_bytes_max;
    return limit_error("limits.comment_bytes_max", static_cast<std::int64_t>(bytes_max),
                       "the comment is larger than " + std::to_string(bytes_max) + " bytes");
  }
  const bool assigns = change.kind == TaskChange::Kind::assign || change.kind == TaskChange::Kind::reassign;
  if (assigns && change.assignee.empty()) return Error{ErrorCode::invalid, "say to whom the task is assigned"};
  TaskChange checked = change;
  checked.actor = actor.name;
  constexpr int tries_max = 20;  // each one means that the task's row changed under us
  for (int attempt = 0; attempt < tries_max; ++attempt) {
    CAIRN_TRY(const auto task, store_.find_task(change.task));
    if (!task) return Error{ErrorCode::not_found, "no task " + change.task.value};
    if (auto refused = refuse_change(*task, change, actor, assignee_roles)) return *refused;
    // The rights were checked on this version: a change of its assignee in between must not slip through.
    checked.version = change.version.value_or(task->version);
    if (store_.kept_events().tasks) checked.trace = trace_of(task->instance);
    CAIRN_TRY(const TaskChanged changed, store_.change_task(checked));
    switch (changed.kind) {
      case TaskChanged::Kind::done: return changed.row;
      case TaskChanged::Kind::not_found: return Error{ErrorCode::not_found, "no task " + change.task.value};
      case TaskChanged::Kind::stale:
        if (!change.version) continue;
        return Error{ErrorCode::conflict, "stale_version: task " + change.task.value + " is at version " +
                                              std::to_string(changed.row.version)};
      case TaskChanged::Kind::closed: return closed(changed.row);
      case TaskChanged::Kind::taken:
        return Error{ErrorCode::conflict, "task " + change.task.value + " is assigned to " + changed.row.assignee};
    }
  }
  return Error{ErrorCode::conflict, "task " + change.task.value + " kept changing; try again"};
}

}  // namespace cairn
