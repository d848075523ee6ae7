// Requests of people and other systems about runs: submit standalone runs, cancel and remove runs. The reports of
// workers are in run_reports.h, leasing in runs/run_leasing.h. The rules for `done` are those of Deliveries. The
// overloads without `done` block. Safe from several threads.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cairn/requests.h"
#include "engine/context.h"
#include "engine/deliveries.h"
#include "engine/listeners.h"
#include "runs/run_intake.h"
#include "runs/run_types.h"

namespace cairn {

// A standalone run, without a workflow.
struct RunRequest {
  std::string id;  // empty: a new one
  std::string type;
  Json payload;
  std::string idempotency_key;  // empty: none
  std::int64_t priority = 0;    // higher first
  std::optional<Timestamp> run_at;
  std::optional<Duration> delay;  // instead of `run_at`: from the store's now
  int attempts_max = 3;
  Duration backoff = Duration::of_seconds(1);
  double factor = 2;
  Duration cap = Duration::of_seconds(300);
  double jitter = 0.5;
  std::optional<Duration> timeout;  // for each attempt
  std::string traceparent = {};     // the caller's trace, which the run continues; empty or malformed: a new one
  std::string created_by = {};      // the actor of the run's first event (store/lease_holder.h)
};

// The results of one batch, in the order of its requests.
struct SubmittedRuns {
  std::vector<RunRow> rows;             // as stored
  std::vector<bool> fresh;              // false: it repeats the run in `rows`
  std::map<std::size_t, Error> errors;  // of repeats that ask for other work than the first request
};

class RunRequests {
 public:
  RunRequests(EngineContext& context, Deliveries& deliveries, RunTypes& types, Listeners& listeners)
      : context_(context),
        store_(context.store),
        deliveries_(deliveries),
        types_(types),
        listeners_(listeners),
        intake_(context.store, context.store, context.options.limits.runs_waiting_max) {}

  // A known idempotency key returns the first run; with another type or payload it is a conflict. `done` may be called
  // by a writing thread and must not call the engine.
  void submit(const RunRequest& request, Done<Result<SubmittedRun>> done);
  Result<SubmittedRun> submit(const RunRequest& request);
  // Writes all requests in one transaction, or none if one of them is invalid.
  void submit_all(std::vector<RunRequest> requests, Done<Result<SubmittedRuns>> done);
  Result<SubmittedRuns> submit_all(std::span<const RunRequest> requests);
  // The instance that waits for the run gets the failure `cancelled`. conflict if the run has ended.
  void cancel(RunId id, Actor actor, Done<Result<RunRow>> done);
  Result<RunRow> cancel(const RunId& id, const Actor& actor);
  // Hides a run. conflict if a worker has it or an instance waits for it.
  void remove(RunId id, std::string reason, Actor actor, Done<Result<RunRow>> done);
  Result<RunRow> remove(const RunId& id, const std::string& reason, const Actor& actor);
  // Writes submitted runs. Later submissions get ErrorCode::unavailable.
  void stop() { intake_.stop(); }

 private:
  // The type of the last request: most requests of a batch have the same type, which is looked up once.
  struct RequestedType {
    std::string name;
    std::shared_ptr<const expr::Expression> counted_by;  // nullptr: its limits have no key
  };
  // Fills a new row. The id stays empty if the request has none.
  Result<void> fill(RunRow& row, const RunRequest& request, Timestamp now, RequestedType& type);
  // One cancellation until it is answered.
  struct Cancelling;
  void try_cancel(const std::shared_ptr<Cancelling>& cancelling);  // on a thread that may call the store
  Delivery delivery_of(const Cancelling& cancelling, const RunRow& run) const;
  void cancel_alone(const std::shared_ptr<Cancelling>& cancelling);  // no instance waits for the run

  EngineContext& context_;
  RunStore& store_;
  Deliveries& deliveries_;
  RunTypes& types_;
  Listeners& listeners_;
  RunIntake intake_;
};

}  // namespace cairn
