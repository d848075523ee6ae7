// What people and other systems ask of runs: submitting runs on their own, cancelling and removing runs. What workers
// report is in run_reports.h, leasing in runs/run_leasing.h. Safe from several threads.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/actor.h"
#include "engine/context.h"
#include "engine/deliveries.h"
#include "engine/listeners.h"
#include "runs/run_intake.h"
#include "runs/run_types.h"

namespace cairn {

// A run on its own, without any workflow.
struct RunOrder {
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
  std::string traceparent = {};     // the caller's trace, which the run continues; empty or malformed: its own
  std::string created_by = {};      // the actor of the run's first event (store/lease_holder.h)
};

// Of orders that came together, in their order.
struct SubmittedRuns {
  std::vector<RunRow> rows;             // as stored
  std::vector<bool> fresh;              // false: it repeats the run in `rows`
  std::map<std::size_t, Error> errors;  // of repeats that ask for other work than the first one did
};

class RunRequests {
 public:
  RunRequests(EngineContext& context, Deliveries& deliveries, RunTypes& types, Listeners& listeners)
      : context_(context),
        store_(context.store),
        deliveries_(deliveries),
        types_(types),
        listeners_(listeners),
        intake_(context.store) {}

  // A known idempotency key answers with the first run; with another type or payload it is a conflict. `done` is called
  // once, maybe from a writing thread: it must be quick and must not call the engine.
  void submit(const RunOrder& order, RunIntake::Answer done);
  Result<SubmittedRun> submit(const RunOrder& order);
  // One transaction; nothing is written when one of them is not valid.
  Result<SubmittedRuns> submit_all(std::span<const RunOrder> orders);
  // The instance that waits for the run gets the failure `cancelled`. conflict when the run has ended.
  Result<RunRow> cancel(const RunId& id, const Actor& actor);
  // Hides a run. conflict when a worker has it or an instance waits for it.
  Result<RunRow> remove(const RunId& id, const std::string& reason, const Actor& actor);
  // Writes what was submitted; later submissions are ErrorCode::unavailable.
  void stop() { intake_.stop(); }

 private:
  // Of orders that come together most are of one type: what must be known of it is asked for once.
  struct OrderedType {
    std::string name;
    std::shared_ptr<const expr::Expression> counted_by;  // nullptr: its limits have no key
  };
  // Of a new row. Without an id when the order has none.
  Result<void> fill(RunRow& row, const RunOrder& order, Timestamp now, OrderedType& type);

  EngineContext& context_;
  Store& store_;
  Deliveries& deliveries_;
  RunTypes& types_;
  Listeners& listeners_;
  RunIntake intake_;
};

}  // namespace cairn
