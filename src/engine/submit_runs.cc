// Runs that are submitted on their own.
#include <algorithm>
#include <condition_variable>

#include "engine/check_input.h"
#include "engine/coordinator.h"
#include "engine/sender_scope.h"
#include "instance/carried_trace.h"
#include "instance/trace_id.h"
#include "store/projection.h"

namespace cairn {

namespace {

constexpr std::size_t type_bytes_max = 200;

// The same key must mean the same work: whoever changed the payload would wait for another result.
Result<void> same_work(const RunOrder& asked, const RunRow& first) {
  // Whoever asks again may do so in another trace.
  const bool same =
      first.payload == asked.payload || without_trace(first.payload).value == without_trace(asked.payload).value;
  if (first.type == asked.type && same) return {};
  if (asked.idempotency_key.empty() || first.idempotency_key != asked.idempotency_key) {
    return Error{ErrorCode::conflict, "a run with the id " + first.id.value + " exists already"};
  }
  return Error{ErrorCode::conflict, "idempotency_key_reused: the idempotency key '" +
                                        std::string(unscoped_id(asked.idempotency_key)) + "' belongs to run " +
                                        first.id.value + ", which has another type or payload"};
}

bool is_unnamed(const RunRow& run) { return run.id.empty(); }

}  // namespace

Result<void> Coordinator::fill(RunRow& row, const RunOrder& order, Timestamp now, OrderedType& type) {
  CAIRN_TRY_VOID(check_incoming_text(order.id, "the id", options_.limits));
  if (type.name.empty() || order.type != type.name) {
    CAIRN_TRY_VOID(check_incoming_text(order.type, "the type", options_.limits));
    if (order.type.empty() || order.type.size() > type_bytes_max) {
      return Error{ErrorCode::invalid, "a run has a type of 1 to 200 bytes, for example billing.charge.v1"};
    }
    CAIRN_TRY(auto counted_by, run_types_.find(order.type));
    type = {order.type, std::move(counted_by)};
  }
  CAIRN_TRY_VOID(check_incoming(order.payload, "the payload", options_.limits));
  CAIRN_TRY_VOID(check_incoming_text(order.idempotency_key, "the idempotency key", options_.limits));
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
  if (type.counted_by) row.limit_key = RunTypes::limit_key(*type.counted_by, order.payload);
  return {};
}

void Coordinator::submit_run(const RunOrder& order, RunIntake::Answer answer) {
  const Timestamp now = store_.now();
  RunRow row;
  OrderedType type;
  if (auto filled = fill(row, order, now, type); !filled) return answer(std::move(filled).error());
  if (is_unnamed(row)) row.id.value = new_uuid(now);
  run_intake_.submit(std::move(row), [asked = order, answer = std::move(answer)](Result<SubmittedRun> submitted) {
    if (submitted && !submitted->second) {
      if (auto same = same_work(asked, submitted->first); !same) return answer(std::move(same).error());
    }
    answer(std::move(submitted));
  });
}

Result<SubmittedRun> Coordinator::submit_run(const RunOrder& order) {
  std::mutex mutex;
  std::condition_variable answered;
  std::optional<Result<SubmittedRun>> submitted;
  submit_run(order, [&](Result<SubmittedRun> given) {
    // Notified under the lock: the waiter owns all of this and is gone as soon as it can see the answer.
    const std::lock_guard lock(mutex);
    submitted = std::move(given);
    answered.notify_one();
  });
  std::unique_lock lock(mutex);
  answered.wait(lock, [&] { return submitted.has_value(); });
  return std::move(*submitted);
}

Result<SubmittedRuns> Coordinator::submit_runs(std::span<const RunOrder> orders) {
  if (stopped_) return Error{ErrorCode::unavailable, "the engine is stopping"};
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

}  // namespace cairn
