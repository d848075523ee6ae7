// What workers report about the runs that they leased: a result or a failure ends the run, and in the same commit the
// instance that waits for it advances. Safe from several threads.
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
#include "runs/leased_runs.h"

namespace cairn {

// A failure is retried while attempts are left and its class allows it.
struct RunReport {
  RunId run;
  std::uint64_t fence = 0;
  Json result;
  std::optional<Failure> failure;
  bool retry = true;                    // false: the worker knows that trying again is no use
  std::optional<Duration> retry_after;  // instead of the policy's delay, up to its cap
  std::string worker;
  std::optional<DeadLetter> letter = {};  // written in the commit that ends the run
  std::optional<RunRow> leased = {};      // as it was leased, if the worker has it: then it is not looked up
  std::string account = {};               // must hold the lease (store/lease_holder.h); empty: not checked
};
enum class RunAnswer { finished, will_retry, lease_lost };
// Whether the same report may be taken when it comes again: the store was away, too much waited, or its instance kept
// changing.
bool may_report_again(const Error& refused);

class RunReports {
 public:
  using Done = std::function<void(std::vector<Result<RunAnswer>>)>;

  RunReports(EngineContext& context, Deliveries& deliveries, LeasedRuns& leased, Listeners& listeners)
      : context_(context), store_(context.store), deliveries_(deliveries), leased_(leased), listeners_(listeners) {}

  // Each on its own; what goes into one commit is the queue's business. Of a report only `run` and `fence` are left.
  // The rules for `done` are those of Deliveries; asked on a thread that may call the store.
  void report_all(std::span<RunReport> reports, Done done);
  // The same, waiting for the answers.
  std::vector<Result<RunAnswer>> report_all(std::span<RunReport> reports);
  Result<RunAnswer> report(const RunReport& report);

 private:
  // The end that a report asks for, to be committed.
  struct ReportedEnd {
    RunEnd end;
    RunRow run;
    std::optional<Failure> failure;
    std::vector<DeadLetter> letters;
  };
  // What a report comes to, as far as it can be told without its commit: an answer, or the end to commit.
  Result<std::variant<RunAnswer, ReportedEnd>> prepare_end(RunReport& report);
  // `directly`: those that no instance waits for are written by this thread, without the queue.
  void report_all(std::span<RunReport> reports, bool directly, Done done);
  Delivery delivery_of(const ReportedEnd& reported) const;
  Unit unit_of(const ReportedEnd& reported) const;  // of one without an instance
  Result<RunAnswer> end_alone(const ReportedEnd& reported);
  Result<RunAnswer> ended_by(const RunEnd& end, Deliveries::Outcome delivered);

  EngineContext& context_;
  RunStore& store_;
  Deliveries& deliveries_;
  LeasedRuns& leased_;
  Listeners& listeners_;
};

}  // namespace cairn
