#include "engine/run_requests.h"

#include <algorithm>

#include "engine/check_input.h"
#include "engine/sender_scope.h"
#include "instance/carried_trace.h"
#include "instance/trace_id.h"
#include "store/projection.h"

namespace cairn {

namespace {

constexpr std::size_t type_bytes_max = 200;

// The same key must mean the same work: a caller that changed the payload would wait for another result.
Result<void> same_work(const RunOrder& asked, const RunRow& first) {
  // A repeat may come in another trace.
  const bool same =
      first.payload == asked.payload || without_trace(first.payload).value == without_trace(asked.payload).value;
  // An id is its sender's: another sender, who may choose the same one, does not get to see the run.
  const bool own = sender_mark(asked.idempotency_key) == sender_mark(first.idempotency_key);
  if (first.type == asked.type && same && own) return {};
  if (asked.idempotency_key.empty() || first.idempotency_key != asked.idempotency_key) {
    return Error{ErrorCode::conflict, "a run with the id " + first.id.value + " exists already"};
  }
  return Error{ErrorCode::conflict, "idempotency_key_reused: the idempotency key '" +
                                        std::string(unscoped_id(asked.idempotency_key)) + "' belongs to run " +
                                        first.id.value + ", which has another type or payload"};
}

bool is_unnamed(const RunRow& run) { return run.id.empty(); }

}  // namespace

Result<void> RunRequests::fill(RunRow& row, const RunOrder& order, Timestamp now, OrderedType& type) {
  CAIRN_TRY_VOID(check_incoming_text(order.id, "the id", context_.options.limits));
  if (type.name.empty() || order.type != type.name) {
    CAIRN_TRY_VOID(check_incoming_text(order.type, "the type", context_.options.limits));
    if (order.type.empty() || order.type.size() > type_bytes_max) {
      return Error{ErrorCode::invalid, "a run has a type of 1 to 200 bytes, for example billing.charge.v1"};
    }
    CAIRN_TRY(auto counted_by, types_.find(order.type));
    type = {order.type, std::move(counted_by)};
  }
  CAIRN_TRY_VOID(check_incoming(order.payload, "the payload", context_.options.limits));
  CAIRN_TRY_VOID(check_incoming_text(order.idempotency_key, "the idempotency key", context_.options.limits));
  if (!order.id.empty() && !is_uuid(order.id)) return Error{ErrorCode::invalid, "the id of a run is a UUID"};
  if (order.timeout && (order.timeout->negative() || *order.timeout > run_timeout_max)) {
    return Error{ErrorCode::invalid, "timeout: an attempt lasts up to 3650d"};
  }
  if (order.attempts_max < 1) return Error{ErrorCode::invalid, "a run is attempted at least once"};
  row.id.value = order.id;
  row.type = order.type;
  row.payload = is_traceparent(order.traceparent) ? with_trace(order.payload, order.traceparent) : order.payload;
  row.idempotency_key = order.idempotency_key;
  row.priority = order.priority;
  row.run_at = order.run_at.value_or(order.delay ? after(now, *order.delay) : now);
  row.attempts_max = order.attempts_max;
  row.backoff = order.backoff;
  row.factor = order.factor;
  row.cap = order.cap;
  row.jitter = order.jitter;
  row.timeout = order.timeout;
  row.created_by = order.created_by;
  if (type.counted_by) row.limit_key = RunTypes::limit_key(*type.counted_by, order.payload);
  return {};
}

void RunRequests::submit(const RunOrder& order, RunIntake::Answer done) {
  const Timestamp now = store_.now();
  RunRow row;
  OrderedType type;
  if (auto filled = fill(row, order, now, type); !filled) return done(std::move(filled).error());
  if (is_unnamed(row)) row.id.value = new_uuid(now);
  intake_.submit(std::move(row), [asked = order, done = std::move(done)](Result<SubmittedRun> submitted) {
    if (submitted && !submitted->second) {
      if (auto same = same_work(asked, submitted->first); !same) return done(std::move(same).error());
    }
    done(std::move(submitted));
  });
}

Result<SubmittedRun> RunRequests::submit(const RunOrder& order) {
  return deliveries_.wait_for<Result<SubmittedRun>>([&](RunIntake::Answer done) { submit(order, std::move(done)); });
}

Result<SubmittedRuns> RunRequests::submit_all(std::span<const RunOrder> orders) {
  if (context_.stopping) return Error{ErrorCode::unavailable, "the engine is stopping"};
  const Timestamp now = store_.now();
  SubmittedRuns runs;
  runs.rows.resize(orders.size());
  OrderedType type;
  for (std::size_t i = 0; i < orders.size(); ++i) {
    if (auto filled = fill(runs.rows[i], orders[i], now, type); !filled) {
      return with_context(std::move(filled).error(), "run " + std::to_string(i));
    }
  }
  auto ids = new_uuids(now, static_cast<std::size_t>(std::count_if(runs.rows.begin(), runs.rows.end(), is_unnamed)));
  auto next_id = ids.begin();
  for (RunRow& row : runs.rows) {
    if (is_unnamed(row)) row.id.value = std::move(*next_id++);
  }
  CAIRN_TRY(runs.fresh, store_.submit_runs(runs.rows));
  for (std::size_t i = 0; i < orders.size(); ++i) {
    if (runs.fresh[i]) continue;
    if (auto same = same_work(orders[i], runs.rows[i]); !same) runs.errors.emplace(i, std::move(same).error());
  }
  return runs;
}

Result<RunRow> RunRequests::cancel(const RunId& id, const Actor& actor) {
  CAIRN_TRY(const auto run, store_.find_run(id));
  if (!run) return Error{ErrorCode::not_found, "no run " + id.value};
  if (run->instance && !is_final(run->status)) {
    // Its instance must not wait for ever for a run that no worker will finish: both go in one commit.
    Failure failure;
    failure.failure_class = FailureClass::business;
    failure.code = "cancelled";
    failure.message = "the run was cancelled by " + actor.name;
    failure.attempt = std::max(1, run->attempt);
    failure.step = run->step;
    Delivery delivery;
    delivery.instance = *run->instance;
    delivery.what = RunFinished{run->token, Json(), std::move(failure)};
    delivery.actor = actor.name;
    delivery.cancels = id;
    auto delivered = deliveries_.wait_for<Deliveries::Outcome>(
        [&](Deliveries::Done done) { deliveries_.deliver(std::move(delivery), std::move(done)); });
    if (!delivered) return std::move(delivered).error().error;
    if (delivered->kind == Delivered::Kind::applied) {
      CAIRN_TRY(const auto after, store_.find_run(id));
      if (after) return *after;
    }
  }
  // No instance waits for it, or no longer.
  RunChange change;
  change.kind = RunChange::Kind::cancel;
  change.run = id;
  change.actor = actor.name;
  CAIRN_TRY(const RunChanged changed, store_.change_run(change));
  if (changed.kind == RunChanged::Kind::finished) {
    return Error{ErrorCode::conflict, "run " + id.value + " is " + to_string(changed.row.status) + " already"};
  }
  listeners_.tell_run_ended(changed.row);
  return changed.row;
}

Result<RunRow> RunRequests::remove(const RunId& id, const std::string& reason, const Actor& actor) {
  RunChange change;
  change.kind = RunChange::Kind::remove;
  change.run = id;
  change.reason = reason;
  change.actor = actor.name;
  CAIRN_TRY(const RunChanged changed, store_.change_run(change));
  switch (changed.kind) {
    case RunChanged::Kind::not_found: return Error{ErrorCode::not_found, "no run " + id.value};
    case RunChanged::Kind::awaited:
      return Error{ErrorCode::conflict, "instance " + changed.row.instance.value_or(InstanceId{}).value +
                                            " waits for run " + id.value + "; cancel the run first"};
    case RunChanged::Kind::lease_lost:
    case RunChanged::Kind::finished:
    case RunChanged::Kind::exhausted:
    case RunChanged::Kind::not_holder:
      return Error{ErrorCode::conflict, "a worker has run " + id.value + "; cancel the run first"};
    case RunChanged::Kind::done: break;
  }
  listeners_.tell_run_ended(changed.row);
  return changed.row;
}

}  // namespace cairn
