// What becomes of external work.
#include <algorithm>
#include <atomic>

#include "base/log.h"
#include "engine/check_input.h"
#include "engine/coordinator.h"
#include "instance/carried_trace.h"
#include "instance/retry.h"
#include "store/lease_holder.h"
#include "store/projection.h"

namespace cairn {

namespace {

Duration delay_after(const RunRow& run) {
  RunIntent policy;
  policy.id = run.id;
  policy.backoff = run.backoff;
  policy.factor = run.factor;
  policy.cap = run.cap;
  policy.jitter = run.jitter;
  return retry_delay(policy, run.attempt);
}

}  // namespace

void Coordinator::lease_here(std::vector<std::string> types, Duration length, std::function<void(RunRow)> take) {
  const std::lock_guard lock(lease_mutex_);
  lease_ = RunLease{node_, length, std::move(types)};
  take_run_ = std::move(take);
}

void Coordinator::stop_leasing_here() {
  const std::lock_guard lock(lease_mutex_);
  lease_.reset();
}

bool may_report_again(const Error& refused) {
  return refused.code == ErrorCode::unavailable || refused.code == ErrorCode::limit ||
         refused.code == ErrorCode::conflict || refused.code == ErrorCode::internal;
}

Result<void> Coordinator::lease_new_runs(Slice& slice) {
  Unit& unit = slice.unit;
  std::vector<std::string> types;
  for (Advance& advance : unit.advances) {
    for (RunIntent& run : advance.runs) {
      if (run.timeout) run.timeout = std::min(*run.timeout, run_timeout_max);
      CAIRN_TRY(std::string key, run_types_.limit_key(run.type, without_trace(run.payload).value));
      if (!key.empty()) unit.limit_keys.emplace_back(run.id, std::move(key));
      types.push_back(run.type);
    }
  }
  if (types.empty()) return {};
  {
    const std::lock_guard lock(lease_mutex_);
    const auto ours = [this](const std::string& type) {
      return std::find(lease_->types.begin(), lease_->types.end(), type) != lease_->types.end();
    };
    if (lease_ && std::any_of(types.begin(), types.end(), ours)) {
      unit.lease = lease_;
      return {};
    }
  }
  slice.promise = lease_waiters_.promise(types);
  if (slice.promise) unit.lease = slice.promise->lease();
  return {};
}

Result<std::variant<RunAnswer, Coordinator::ReportedEnd>> Coordinator::prepare_end(RunReport& report) {
  using Prepared = std::variant<RunAnswer, ReportedEnd>;
  // A result that cannot be kept is the attempt's failure: refusing it would only run it again.
  auto storable = check_incoming(report.result, "the result", options_.limits);
  if (storable && report.failure) storable = check_incoming(to_json(*report.failure), "the error", options_.limits);
  if (!storable) {
    report.result = Json();
    report.retry = false;
    report.failure = Failure{FailureClass::transport, "invalid_result", storable.error().message, Json(), 1, "", ""};
  }
  std::optional<RunRow> run =
      report.leased ? std::exchange(report.leased, std::nullopt) : leased_runs_.take(report.run, report.fence);
  if (!run) {
    CAIRN_TRY(run, store_.find_run(report.run));
    if (!run) return Error{ErrorCode::not_found, "no run " + report.run.value};
    if (run->status != RunStatus::leased || run->fence != report.fence) return Prepared(RunAnswer::lease_lost);
  }
  if (!holds_lease(run->leased_by, report.account)) {
    return Error{ErrorCode::not_allowed, "the lease of run " + report.run.value + " is held by another credential"};
  }

  if (report.failure && report.retry && is_retryable(*report.failure) && run->attempt < run->attempts_max) {
    RunChange retry;
    retry.kind = RunChange::Kind::retry;
    retry.run = report.run;
    retry.fence = report.fence;
    retry.length = report.retry_after ? std::min(*report.retry_after, run->cap) : delay_after(*run);
    retry.error = to_json(*report.failure);
    retry.actor = report.worker;
    CAIRN_TRY(const RunChanged changed, store_.change_run(retry));
    if (changed.kind == RunChanged::Kind::done) return Prepared(RunAnswer::will_retry);
    if (changed.kind != RunChanged::Kind::exhausted) return Prepared(RunAnswer::lease_lost);
  }

  ReportedEnd reported;
  reported.failure = std::move(report.failure);
  if (reported.failure) {
    reported.failure->attempt = run->attempt;
    if (reported.failure->step.empty()) reported.failure->step = run->step;
  }
  RunEnd& end = reported.end;
  end.run = report.run;
  end.fence = report.fence;
  end.status = reported.failure ? RunStatus::failed : RunStatus::succeeded;
  end.result = std::move(report.result);
  if (reported.failure) end.error = to_json(*reported.failure);
  end.actor = std::move(report.worker);
  end.trace = trace_in(run->payload);
  reported.run = std::move(*run);
  if (report.letter) reported.letters.push_back(std::move(*report.letter));
  return Prepared(std::move(reported));
}

namespace {

Result<RunAnswer> answer_of(Result<CommitOutcome> outcome) {
  if (!outcome) return std::move(outcome).error();
  if (outcome->kind == CommitOutcome::Kind::failed) return outcome->error;
  return outcome->kind == CommitOutcome::Kind::done ? RunAnswer::finished : RunAnswer::lease_lost;
}

}  // namespace

Result<RunAnswer> Coordinator::report(const RunReport& given) {
  RunReport report = given;
  CAIRN_TRY(const auto prepared, prepare_end(report));
  if (const auto* told = std::get_if<RunAnswer>(&prepared)) return *told;
  const auto& reported = std::get<ReportedEnd>(prepared);
  return reported.run.instance ? ended_by(reported.end, deliver(delivery_of(reported))) : end_alone(reported);
}

Unit Coordinator::unit_of(const ReportedEnd& reported) const {
  Unit unit;
  unit.run = reported.end;
  unit.dead_letters = reported.letters;
  unit.actor = node_;
  return unit;
}

Result<RunAnswer> Coordinator::end_alone(const ReportedEnd& reported) {
  auto answer = answer_of(queue_.commit(unit_of(reported)));
  if (answer && *answer == RunAnswer::finished && run_follower_.follows(reported.run)) run_follower_.ended(reported.run);
  return answer;
}

std::vector<Result<RunAnswer>> Coordinator::report_all(std::span<RunReport> reports) {
  // A few are better written together with whatever else is queued.
  constexpr std::size_t many = 32;
  const bool directly = reports.size() >= many && store_.ends_runs_directly();
  return queue_.wait_for<std::vector<Result<RunAnswer>>>(
      [&](Reported done) { report_all(reports, directly, std::move(done)); });
}

void Coordinator::report_all(std::span<RunReport> reports, Reported done) {
  report_all(reports, false, std::move(done));
}

void Coordinator::report_all(std::span<RunReport> reports, bool directly, Reported done) {
  struct Answers {
    // One more is open than there are: nobody is told before all are on their way.
    Answers(std::size_t count, Reported told)
        : list(count, Result<RunAnswer>(RunAnswer::lease_lost)), open(count + 1), done(std::move(told)) {}
    std::vector<Result<RunAnswer>> list;
    std::atomic<std::size_t> open;
    Reported done;
  };
  auto answers = std::make_shared<Answers>(reports.size(), std::move(done));
  const auto answer = [answers](std::size_t i, Result<RunAnswer> given) {
    answers->list[i] = std::move(given);
    if (--answers->open == 0) answers->done(std::move(answers->list));
  };
  std::vector<Unit> units;
  std::vector<RunEnd> ends;
  std::vector<std::size_t> places, places_of_ends;  // among the reports
  for (std::size_t i = 0; i < reports.size(); ++i) {
    auto prepared = prepare_end(reports[i]);
    if (!prepared) {
      answer(i, std::move(prepared).error());
    } else if (const auto* told = std::get_if<RunAnswer>(&*prepared)) {
      answer(i, *told);
    } else {
      auto& reported = std::get<ReportedEnd>(*prepared);
      if (reported.run.instance) {
        deliver(delivery_of(reported), [this, answer, i, end = reported.end](Result<Delivered, DeliveryError> delivered) {
          if (!delivered || delivered->kind == Delivered::Kind::applied) {
            return answer(i, ended_by(end, std::move(delivered)));
          }
          // Its row says whether an earlier report has ended it.
          defer([this, answer, i, end, delivered = std::move(*delivered)] { answer(i, ended_by(end, delivered)); });
        });
      } else if (run_follower_.follows(reported.run)) {
        // Its follower is called by this thread.
        answer(i, end_alone(reported));
      } else if (directly && reported.letters.empty()) {
        ends.push_back(std::move(reported.end));
        places_of_ends.push_back(i);
      } else {
        units.push_back(unit_of(reported));
        places.push_back(i);
      }
    }
  }
  queue_.submit_all(std::move(units), [answer, places = std::move(places)](std::size_t place, auto outcome) {
    answer(places[place], answer_of(std::move(outcome)));
  });
  if (!ends.empty()) {
    auto outcomes = store_.end_runs(ends);
    for (std::size_t i = 0; i < ends.size(); ++i) {
      answer(places_of_ends[i],
             answer_of(outcomes ? Result<CommitOutcome>(std::move((*outcomes)[i])) : outcomes.error()));
    }
  }
  if (--answers->open == 0) answers->done(std::move(answers->list));
}

Delivery Coordinator::delivery_of(const ReportedEnd& reported) const {
  Delivery delivery;
  delivery.instance = *reported.run.instance;
  delivery.what =
      RunFinished{reported.run.token, reported.end.result, reported.failure, std::max(1, reported.run.attempt)};
  delivery.actor = LeaseHolder::parse(reported.end.actor).actor();
  delivery.cause.run = reported.end;
  delivery.cause.dead_letters = reported.letters;
  return delivery;
}

Result<RunAnswer> Coordinator::ended_by(const RunEnd& end, Result<Delivered, DeliveryError> delivered) {
  // When its instance cannot take the result now, the lease ends by itself and the run is tried again.
  if (!delivered) return std::move(delivered).error().error;
  if (delivered->kind == Delivered::Kind::applied) return RunAnswer::finished;
  CAIRN_TRY(const auto after, store_.find_run(end.run));
  const bool ours = after && is_final(after->status) && after->fence == end.fence;
  return ours && after->status != RunStatus::cancelled ? RunAnswer::finished : RunAnswer::lease_lost;
}

Result<RunRow> Coordinator::cancel_run(const RunId& id, const Actor& actor) {
  CAIRN_TRY(const auto run, store_.find_run(id));
  if (!run) return Error{ErrorCode::not_found, "no run " + id.value};
  if (run->instance && !is_final(run->status)) {
    // Its instance must not wait for ever for a run that nobody will finish: both go in one commit.
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
    auto delivered = deliver(delivery);
    if (!delivered) return std::move(delivered).error().error;
    if (delivered->kind == Delivered::Kind::applied) {
      CAIRN_TRY(const auto after, store_.find_run(id));
      if (after) return *after;
    }
  }
  // Nobody waits for it, or no longer.
  RunChange change;
  change.kind = RunChange::Kind::cancel;
  change.run = id;
  change.actor = actor.name;
  CAIRN_TRY(const RunChanged changed, store_.change_run(change));
  if (changed.kind == RunChanged::Kind::finished) {
    return Error{ErrorCode::conflict, "run " + id.value + " is " + to_string(changed.row.status) + " already"};
  }
  if (run_follower_.follows(changed.row)) run_follower_.ended(changed.row);
  return changed.row;
}

Result<RunRow> Coordinator::remove_run(const RunId& id, const std::string& reason, const Actor& actor) {
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
  if (run_follower_.follows(changed.row)) run_follower_.ended(changed.row);
  return changed.row;
}

namespace {

// Its worker may be alive and keep its lease: the attempt has lasted too long all the same.
bool is_overdue(const RunRow& run, Timestamp now) {
  if (!run.timeout) return false;
  return run.attempt < run.attempts_max || (run.lease_until && *run.lease_until > now) ||
         after(run.updated_at, *run.timeout) <= now;
}

}  // namespace

Result<RunAnswer> Coordinator::end_exhausted(const RunRow& run) {
  if (is_overdue(run, store_.now())) {
    return report({run.id, run.fence, Json(), call_timeout(*run.timeout, run.attempt), true, {}, node_, {}});
  }
  Failure failure;
  failure.failure_class = FailureClass::timeout;
  failure.code = "lease_expired";
  failure.message = "its worker " + LeaseHolder::parse(run.leased_by).label +
                    " did not report back before the lease ended, " + std::to_string(run.attempt) + " of " +
                    std::to_string(run.attempts_max) + " attempts";
  failure.attempt = run.attempt;
  failure.step = run.step;
  DeadLetter letter;
  letter.instance = run.instance;
  letter.kind = "run";
  letter.envelope = Json::object({{"run", run.id.value}, {"type", run.type}, {"payload", run.payload}});
  letter.reason = failure.message;
  letter.node = node_;
  // Several nodes may see it: the letter goes with the end, so that there is one, and none is lost.
  return report({run.id, run.fence, Json(), failure, false, std::nullopt, node_, letter});
}

std::size_t Coordinator::end_exhausted_runs() {
  constexpr std::size_t batch = 100;
  const Timestamp now = store_.now();
  std::set<std::string> left_alone;
  {
    const std::lock_guard lock(grace_mutex_);
    std::erase_if(unended_, [&](const auto& one) { return one.second <= now; });
    for (const auto& [id, until] : unended_) left_alone.insert(id);
  }
  // Besides those that could not be ended before: they must not keep the others from being seen.
  const std::size_t asked = batch + left_alone.size();
  auto runs = store_.exhausted_runs(asked);
  if (!runs) {
    log_error("runs.exhausted", runs.error());
    look_again();
    return 0;
  }
  std::size_t tried = 0;
  std::size_t count = 0;
  // Their time is over, so nothing of them will fall due: those that could not be ended now must be remembered.
  bool left = false;
  for (const RunRow& run : *runs) {
    if (left_alone.contains(run.id.value)) continue;
    ++tried;
    if (auto ended = end_exhausted(run); !ended) {
      log_error("runs.exhausted", ended.error(), {{"run", run.id.value}});
      const std::lock_guard lock(grace_mutex_);
      unended_[run.id.value] = after(now, options_.hold);
      left = true;
    } else {
      ++count;
    }
  }
  if (left) look_again();
  // There may be more behind those that could not be ended.
  return count == 0 && runs->size() == asked ? tried : count;
}

}  // namespace cairn
