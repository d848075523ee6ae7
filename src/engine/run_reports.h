// The reports of workers about their leased runs. A result or a failure ends the run, and the same commit advances the
// instance that waits for it. Safe from several threads.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "engine/context.h"
#include "engine/deliveries.h"
#include "engine/listeners.h"
#include "engine/run_incidents.h"
#include "runs/leased_runs.h"

namespace cairn {

// A failure is retried while attempts are left, if its class allows it.
struct RunReport {
  RunId run;
  std::uint64_t fence = 0;
  Json result;
  std::optional<Failure> failure;
  bool retry = true;                    // false: the worker knows that a retry is useless
  std::optional<Duration> retry_after;  // instead of the policy's delay, up to its cap
  std::string worker;
  bool exhausted = false;             // no attempt is left, whatever the failure is: the run becomes a dead letter
  std::optional<RunRow> leased = {};  // the row as it was leased, which saves reading it
  std::string account = {};           // must hold the lease (store/lease_holder.h); empty: not checked
};
struct RunAnswer {
  enum Outcome { finished, will_retry, lease_lost };
  RunAnswer(Outcome told, bool is_repeat = false) : outcome(told), repeated(is_repeat) {}
  bool operator==(Outcome other) const { return outcome == other; }

  Outcome outcome;
  bool repeated;  // the report was carried out before, under the same Idempotency-Key: this is its first outcome
};
const char* name_of(RunAnswer::Outcome outcome);
// Whether a retry of the report may succeed: the store was unavailable, too many units waited, or its instance kept
// changing.
bool may_report_again(const Error& refused);

class RunReports {
 public:
  RunReports(EngineContext& context, Deliveries& deliveries, LeasedRuns& leased, Listeners& listeners)
      : context_(context),
        store_(context.store),
        deliveries_(deliveries),
        leased_(leased),
        listeners_(listeners),
        incidents_(context, deliveries.queue()) {}

  // Handles each report on its own. If the calling thread has a RequestKey, each outcome is stored with its change, and
  // a repeat gets it again instead of `lease_lost`. Moves from the reports, except `run` and `fence`. The rules for
  // `done` are those of Deliveries. Call it on a thread that may call the store.
  void report_all(std::span<RunReport> reports, Done<std::vector<Result<RunAnswer>>> done);
  // The same, blocking.
  std::vector<Result<RunAnswer>> report_all(std::span<RunReport> reports);
  Result<RunAnswer> report(const RunReport& report);
  // For heartbeats, which workers send for their leases.
  RunIncidents& incidents() { return incidents_; }

 private:
  // The end that a report asks for, before its commit.
  struct ReportedEnd {
    RunEnd end;
    RunRow run;
    std::optional<Failure> failure;
    bool exhausted = false;
    std::optional<IdempotencyKey> key;  // of the request that reports it
  };
  // For the incident that follows the commit of an end without attempts left.
  struct Exhausted {
    RunRow run;
    Failure failure;
  };
  static std::optional<Exhausted> exhausted_by(const ReportedEnd& reported);
  // Passes the answer on and reports the incident that it means.
  Result<RunAnswer> told(Result<RunAnswer> answer, const std::optional<Exhausted>& exhausted, const RunEnd& end);
  // Evaluates a report: an answer that needs no commit, or the end to commit.
  Result<std::variant<RunAnswer, ReportedEnd>> prepare_end(RunReport& report);
  // `directly`: this thread writes the ends of standalone runs, without the queue.
  void report_all(std::span<RunReport> reports, bool directly, Done<std::vector<Result<RunAnswer>>> done);
  Delivery delivery_of(const ReportedEnd& reported) const;
  Unit unit_of(const ReportedEnd& reported) const;  // for a run without an instance
  Result<RunAnswer> end_alone(const ReportedEnd& reported);
  // Reads the store, unless the delivery was applied or was refused without a key.
  Result<RunAnswer> ended_by(const RunEnd& end, const std::optional<IdempotencyKey>& key,
                             Deliveries::Outcome delivered);
  // The first answer if the report repeats one under the same key.
  Result<std::optional<RunAnswer>> first_answer(const std::optional<IdempotencyKey>& key);

  EngineContext& context_;
  RunStore& store_;
  Deliveries& deliveries_;
  LeasedRuns& leased_;
  Listeners& listeners_;
  RunIncidents incidents_;
};

}  // namespace cairn
