#include "engine/run_requests.h"

#include <algorithm>

#include "base/duration_max.h"
#include "engine/check_input.h"
#include "engine/request_key.h"
#include "engine/run_key.h"
#include "engine/sender_scope.h"
#include "instance/carried_trace.h"
#include "instance/trace_id.h"
#include "store/projection.h"

namespace cairn {

namespace {

constexpr std::size_t type_bytes_max = 200;

// The same key must mean the same work: a caller with another payload expects another result.
Result<void> same_work(const RunRequest& asked, const RunRow& first) {
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

Result<void> RunRequests::fill(RunRow& row, const RunRequest& request, Timestamp now, RequestedType& type) {
  CAIRN_TRY_VOID(check_incoming_text(request.id, "the id", context_.options.limits));
  if (type.name.empty() || request.type != type.name) {
    CAIRN_TRY_VOID(check_incoming_text(request.type, "the type", context_.options.limits));
    if (request.type.empty() || request.type.size() > type_bytes_max) {
      return Error{ErrorCode::invalid, "a run has a type of 1 to 200 bytes, for example billing.charge.v1"};
    }
    CAIRN_TRY(auto counted_by, types_.find(request.type));
    type = {request.type, std::move(counted_by)};
  }
  CAIRN_TRY_VOID(check_incoming(request.payload, "the payload", context_.options.limits));
  // The mark of the sender takes nothing from the length that a sender may use.
  const std::string_view key = unscoped_id(request.idempotency_key);
  CAIRN_TRY_VOID(check_incoming_text(key, "the idempotency key", context_.options.limits));
  if (!request.id.empty() && !is_uuid(request.id)) return Error{ErrorCode::invalid, "the id of a run is a UUID"};
  if (request.timeout && (request.timeout->negative() || *request.timeout > duration_max)) {
    const std::string why = "an attempt lasts up to " + std::string(duration_max_text);
    return Error{ErrorCode::invalid, "timeout: " + why, {{"/timeout", why}}};
  }
  if (request.attempts_max < 1) return Error{ErrorCode::invalid, "a run is attempted at least once"};
  row.id.value = request.id;
  row.type = request.type;
  row.payload =
      is_traceparent(request.traceparent) ? with_trace(request.payload, request.traceparent) : request.payload;
  row.idempotency_key = request.idempotency_key;
  row.priority = request.priority;
  row.run_at = request.run_at.value_or(request.delay ? after(now, *request.delay) : now);
  row.attempts_max = request.attempts_max;
  row.backoff = request.backoff;
  row.factor = request.factor;
  row.cap = request.cap;
  row.jitter = request.jitter;
  row.timeout = request.timeout;
  row.created_by = request.created_by;
  if (type.counted_by) row.limit_key = RunTypes::limit_key(*type.counted_by, request.payload);
  return {};
}

void RunRequests::submit(const RunRequest& request, Done<Result<SubmittedRun>> done) {
  const Timestamp now = store_.now();
  RunRow row;
  RequestedType type;
  if (auto filled = fill(row, request, now, type); !filled) return done(std::move(filled).error());
  if (is_unnamed(row)) row.id.value = new_uuid(now);
  intake_.submit(std::move(row), [asked = request, done = std::move(done)](Result<SubmittedRun> submitted) {
    if (submitted && !submitted->second) {
      if (auto same = same_work(asked, submitted->first); !same) return done(std::move(same).error());
    }
    done(std::move(submitted));
  });
}

Result<SubmittedRun> RunRequests::submit(const RunRequest& request) {
  return deliveries_.wait_for<Result<SubmittedRun>>(
      [&](Done<Result<SubmittedRun>> done) { submit(request, std::move(done)); });
}

void RunRequests::submit_all(std::vector<RunRequest> requests, Done<Result<SubmittedRuns>> done) {
  deliveries_.write_elsewhere([this, requests = std::move(requests)] { return submit_all(std::span(requests)); },
                              std::move(done));
}

Result<SubmittedRuns> RunRequests::submit_all(std::span<const RunRequest> requests) {
  if (context_.stopping) return Error{ErrorCode::unavailable, "the engine is stopping"};
  const Timestamp now = store_.now();
  SubmittedRuns runs;
  runs.rows.resize(requests.size());
  RequestedType type;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (auto filled = fill(runs.rows[i], requests[i], now, type); !filled) {
      Error error = with_context(std::move(filled).error(), "run " + std::to_string(i));
      for (ErrorPlace& place : error.places) place.pointer.insert(0, "/runs/" + std::to_string(i));
      return error;
    }
  }
  auto ids = new_uuids(now, static_cast<std::size_t>(std::count_if(runs.rows.begin(), runs.rows.end(), is_unnamed)));
  auto next_id = ids.begin();
  for (RunRow& row : runs.rows) {
    if (is_unnamed(row)) row.id.value = std::move(*next_id++);
  }
  CAIRN_TRY(runs.fresh, store_.submit_runs(runs.rows));
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (runs.fresh[i]) continue;
    if (auto same = same_work(requests[i], runs.rows[i]); !same) runs.errors.emplace(i, std::move(same).error());
  }
  return runs;
}

struct RunRequests::Cancelling {
  RunId run;
  Actor actor;
  Done<Result<RunRow>> done;
  AuditScope* audit_scope = AuditScope::current();  // lives until the caller is answered
  std::string request_key = RequestKey::current();
  std::optional<IdempotencyKey> key = {};
};

void RunRequests::cancel(RunId id, Actor actor, Done<Result<RunRow>> done) {
  if (auto refused = deliveries_.overload()) return done(std::move(*refused));
  const auto cancelling = std::make_shared<Cancelling>(Cancelling{std::move(id), std::move(actor), std::move(done)});
  deliveries_.defer([this, cancelling] { try_cancel(cancelling); });
}

Result<RunRow> RunRequests::cancel(const RunId& id, const Actor& actor) {
  return deliveries_.wait_for<Result<RunRow>>([&](Done<Result<RunRow>> done) { cancel(id, actor, std::move(done)); });
}

void RunRequests::try_cancel(const std::shared_ptr<Cancelling>& cancelling) {
  const auto run = store_.find_run(cancelling->run);
  if (!run) return cancelling->done(run.error());
  if (!*run) return cancelling->done(Error{ErrorCode::not_found, "no run " + cancelling->run.value});
  cancelling->key = run_key(cancelling->request_key, cancelling->run,
                            static_cast<std::uint64_t>((*run)->created_at.unix_ms()), "cancelled");
  if (!(*run)->instance || is_final((*run)->status)) return cancel_alone(cancelling);
  // The instance must not wait for a run that no worker will finish, so one commit ends both.
  in_scope(cancelling->audit_scope, [&] {
    deliveries_.deliver(delivery_of(*cancelling, **run), [this, cancelling](Deliveries::Outcome delivered) {
      if (!delivered) return cancelling->done(std::move(delivered).error().error);
      const bool applied = delivered->kind == Delivered::Kind::applied;
      deliveries_.defer([this, cancelling, applied] {
        auto after = applied ? store_.find_run(cancelling->run) : std::optional<RunRow>();
        if (!after) return cancelling->done(std::move(after).error());
        if (*after) return cancelling->done(std::move(**after));
        cancel_alone(cancelling);  // the instance no longer waits for it
      });
    });
  });
}

Delivery RunRequests::delivery_of(const Cancelling& cancelling, const RunRow& run) const {
  Failure failure;
  failure.failure_class = FailureClass::business;
  failure.code = "cancelled";
  failure.message = "the run was cancelled by " + cancelling.actor.name;
  failure.attempt = std::max(1, run.attempt);
  failure.step = run.step;
  Delivery delivery;
  delivery.instance = *run.instance;
  delivery.what = RunFinished{run.token, Json(), std::move(failure)};
  delivery.actor = cancelling.actor.name;
  delivery.cancels = cancelling.run;
  delivery.cause.key = cancelling.key;
  return delivery;
}

void RunRequests::cancel_alone(const std::shared_ptr<Cancelling>& cancelling) {
  const auto write = [this, cancelling]() -> Result<RunRow> {
    RunChange change;
    change.kind = RunChange::Kind::cancel;
    change.run = cancelling->run;
    change.actor = cancelling->actor.name;
    change.key = cancelling->key;
    CAIRN_TRY(const RunChanged changed, store_.change_run(change));
    if (changed.kind == RunChanged::Kind::finished) {
      CAIRN_TRY(const auto first, first_outcome(context_.store, cancelling->key));
      if (first) return changed.row;
      return Error{ErrorCode::conflict,
                   "run " + cancelling->run.value + " is " + to_string(changed.row.status) + " already"};
    }
    listeners_.tell_run_ended(changed.row);
    return changed.row;
  };
  in_scope(cancelling->audit_scope, [&] { deliveries_.write_elsewhere(write, cancelling->done); });
}

void RunRequests::remove(RunId id, std::string reason, Actor actor, Done<Result<RunRow>> done) {
  deliveries_.write_elsewhere([this, id = std::move(id), reason = std::move(reason),
                               actor = std::move(actor)] { return remove(id, reason, actor); },
                              std::move(done));
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
    case RunChanged::Kind::done: break;
  }
  listeners_.tell_run_ended(changed.row);
  return changed.row;
}

}  // namespace cairn
