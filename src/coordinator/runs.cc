// What becomes of external work.
#include <algorithm>
#include <cmath>
#include <random>

#include "base/log.h"
#include "coordinator/coordinator.h"

namespace cairn {

namespace {

// SEMANTICS S18: these are decisions, not accidents.
bool may_retry(const Failure& failure) {
  switch (failure.failure_class) {
    case FailureClass::definition:
    case FailureClass::expression:
    case FailureClass::authorization:
    case FailureClass::business:
      return false;
    case FailureClass::transport:
    case FailureClass::timeout:
    case FailureClass::consistency:
      break;
  }
  return failure.code != "no_handler_registered";
}

double unit_random() {
  thread_local std::mt19937_64 source{std::random_device{}()};
  return std::uniform_real_distribution<double>(0, 1)(source);
}

double to_ms(Duration value) { return static_cast<double>(value.seconds) * 1000.0 + value.nanos / 1e6; }

// min(cap, backoff·factor^(attempt−1)) and up to `jitter` of that on top.
Duration retry_delay(const RunRow& run) {
  const double cap = to_ms(run.cap);
  const double base = std::min(cap, to_ms(run.backoff) * std::pow(run.factor, std::max(0, run.attempt - 1)));
  const double delay = base * (1.0 + run.jitter * unit_random());
  return Duration::of_ms(static_cast<std::int64_t>(std::clamp(std::ceil(delay), 0.0, 1e12)));
}

}  // namespace

void Coordinator::lease_here(std::vector<std::string> types, Duration length, std::function<void(RunRow)> take) {
  const std::lock_guard lock(lease_mutex_);
  lease_ = RunLease{node_, length, std::move(types)};
  take_run_ = std::move(take);
}

Result<RunAnswer> Coordinator::report(const RunReport& report) {
  CAIRN_TRY(const auto run, store_.find_run(report.run));
  if (!run) return Error{ErrorCode::not_found, "no run " + report.run.value};
  if (run->status != RunStatus::leased || run->fence != report.fence) return RunAnswer::lease_lost;

  if (report.failure && report.retry && may_retry(*report.failure) && run->attempt < run->attempts_max) {
    RunChange retry;
    retry.kind = RunChange::Kind::retry;
    retry.run = report.run;
    retry.fence = report.fence;
    retry.length = report.retry_after ? std::min(*report.retry_after, run->cap) : retry_delay(*run);
    retry.error = to_json(*report.failure);
    retry.actor = report.worker;
    CAIRN_TRY(const RunChanged changed, store_.change_run(retry));
    if (changed.kind == RunChanged::Kind::done) return RunAnswer::will_retry;
    if (changed.kind != RunChanged::Kind::exhausted) return RunAnswer::lease_lost;
  }

  std::optional<Failure> failure = report.failure;
  if (failure) failure->attempt = run->attempt;
  RunEnd end;
  end.run = report.run;
  end.fence = report.fence;
  end.status = failure ? RunStatus::failed : RunStatus::succeeded;
  end.result = report.result;
  if (failure) end.error = to_json(*failure);
  end.actor = report.worker;

  if (!run->instance) {
    Unit unit;
    unit.run = end;
    unit.actor = node_;
    CAIRN_TRY(const CommitOutcome outcome, queue_.commit(std::move(unit)));
    if (outcome.kind == CommitOutcome::Kind::failed) return outcome.error;
    return outcome.kind == CommitOutcome::Kind::done ? RunAnswer::finished : RunAnswer::lease_lost;
  }
  Errand errand;
  errand.instance = *run->instance;
  errand.what = RunFinished{run->token, report.result, failure};
  errand.actor = report.worker;
  errand.cause.run = end;
  auto delivered = deliver(errand);
  if (!delivered) {
    // Its instance cannot take the result now. The lease ends by itself and the run is tried again.
    return std::move(delivered).error().error;
  }
  CAIRN_TRY(const auto after, store_.find_run(report.run));
  return after && is_final(after->status) && after->fence == report.fence ? RunAnswer::finished : RunAnswer::lease_lost;
}

Result<RunRow> Coordinator::cancel_run(const RunId& id, const Actor& actor) {
  CAIRN_TRY(const auto run, store_.find_run(id));
  if (!run) return Error{ErrorCode::not_found, "no run " + id.value};
  RunChange change;
  change.kind = RunChange::Kind::cancel;
  change.run = id;
  change.actor = actor.name;
  CAIRN_TRY(const RunChanged changed, store_.change_run(change));
  if (changed.kind == RunChanged::Kind::finished) {
    return Error{ErrorCode::conflict, "run " + id.value + " is " + to_string(changed.row.status) + " already"};
  }
  if (run->instance) {
    // Its instance must not wait for ever for a run that nobody will finish.
    Failure failure;
    failure.failure_class = FailureClass::business;
    failure.code = "cancelled";
    failure.message = "the run was cancelled by " + actor.name;
    failure.attempt = std::max(1, run->attempt);
    failure.step = run->step;
    Errand errand;
    errand.instance = *run->instance;
    errand.what = RunFinished{run->token, Json(), std::move(failure)};
    errand.actor = actor.name;
    if (auto delivered = deliver(errand); !delivered) return std::move(delivered).error().error;
  }
  return changed.row;
}

std::size_t Coordinator::end_exhausted_runs() {
  constexpr std::size_t batch = 100;
  auto runs = store_.exhausted_runs(batch);
  if (!runs) {
    log_error("runs.exhausted", runs.error());
    return 0;
  }
  for (const RunRow& run : *runs) {
    Failure failure;
    failure.failure_class = FailureClass::timeout;
    failure.code = "lease_expired";
    failure.message = "its worker " + run.leased_by + " did not report back before the lease ended, " +
                      std::to_string(run.attempt) + " of " + std::to_string(run.attempts_max) + " attempts";
    failure.attempt = run.attempt;
    failure.step = run.step;
    DeadLetter letter;
    letter.instance = run.instance;
    letter.kind = "run";
    letter.envelope = Json::object({{"run", run.id.value}, {"type", run.type}, {"payload", run.payload}});
    letter.reason = failure.message;
    letter.node = node_;
    RunReport report{run.id, run.fence, Json(), failure, false, std::nullopt, node_};
    auto ended = this->report(report);
    if (!ended) {
      log_error("runs.exhausted", ended.error(), {{"run", run.id.value}});
    } else if (*ended == RunAnswer::finished) {
      if (auto put = store_.put_dead_letter(letter); !put) log_error("runs.dead_letter", put.error());
    }
  }
  return runs->size();
}

}  // namespace cairn
