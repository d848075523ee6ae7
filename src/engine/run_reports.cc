#include "engine/run_reports.h"

#include <algorithm>
#include <atomic>

#include "base/sha256.h"
#include "engine/check_input.h"
#include "engine/request_key.h"
#include "engine/run_key.h"
#include "instance/carried_trace.h"
#include "instance/retry.h"
#include "store/lease_holder.h"
#include "store/lifecycle.h"
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

std::optional<IdempotencyKey> key_of(const RunReport& report) {
  const std::string& request = RequestKey::current();
  if (request.empty()) return std::nullopt;
  Json asked = Json::object({{"result", report.result}, {"retry", report.retry}});
  if (report.failure) asked.set("error", to_json(*report.failure));
  if (report.retry_after) asked.set("delay_ms", report.retry_after->ms_up());
  return run_key(request, report.run, report.fence, name_of(RunAnswer::finished), sha256_hex(write_json(asked)));
}

RunAnswer repeat_of(const std::string& outcome) {
  return {outcome == name_of(RunAnswer::will_retry) ? RunAnswer::will_retry : RunAnswer::finished, true};
}

}  // namespace

const char* name_of(RunAnswer::Outcome outcome) {
  switch (outcome) {
    case RunAnswer::finished: return "finished";
    case RunAnswer::will_retry: return "will_retry";
    case RunAnswer::lease_lost: break;
  }
  return "lease_lost";
}

bool may_report_again(const Error& refused) {
  return refused.code == ErrorCode::unavailable || refused.code == ErrorCode::limit ||
         refused.code == ErrorCode::conflict || refused.code == ErrorCode::internal;
}

Result<std::variant<RunAnswer, RunReports::ReportedEnd>> RunReports::prepare_end(RunReport& report) {
  using Prepared = std::variant<RunAnswer, ReportedEnd>;
  std::optional<IdempotencyKey> key = key_of(report);
  const auto lost = [&]() -> Result<Prepared> {
    CAIRN_TRY(const auto first, first_answer(key));
    return Prepared(first ? *first : RunAnswer(RunAnswer::lease_lost));
  };
  if (!make_storable(report.result, report.failure, context_.options.limits)) report.retry = false;
  std::optional<RunRow> run =
      report.leased ? std::exchange(report.leased, std::nullopt) : leased_.take(report.run, report.fence);
  if (!run) {
    CAIRN_TRY(run, store_.find_run(report.run));
    if (!run) return Error{ErrorCode::not_found, "no run " + report.run.value};
    if (run->status != RunStatus::leased || run->fence != report.fence) return lost();
  }
  if (!holds_lease(run->leased_by, report.account)) {
    return Error{ErrorCode::not_allowed, "the lease of run " + report.run.value + " is held by another credential"};
  }

  const bool retryable = report.failure && report.retry && is_retryable(*report.failure);
  if (retryable && run->attempt < run->attempts_max) {
    RunChange retry;
    retry.kind = RunChange::Kind::retry;
    retry.run = report.run;
    retry.fence = report.fence;
    retry.length = report.retry_after ? std::min(*report.retry_after, run->cap) : delay_after(*run);
    retry.error = to_json(*report.failure);
    retry.actor = report.worker;
    retry.key = key;
    if (retry.key) retry.key->answer.set("outcome", name_of(RunAnswer::will_retry));
    CAIRN_TRY(const RunChanged changed, store_.change_run(retry));
    if (changed.kind == RunChanged::Kind::done) return Prepared(RunAnswer(RunAnswer::will_retry));
    if (changed.kind != RunChanged::Kind::exhausted) return lost();
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
  reported.exhausted = reported.failure && (retryable || report.exhausted);
  if (reported.exhausted) {
    // The dead letter needs the payload, which the known row may lack.
    CAIRN_TRY(auto stored, store_.find_run(report.run));
    if (stored) run->payload = std::move(stored->payload);
  }
  reported.run = std::move(*run);
  reported.key = std::move(key);
  return Prepared(std::move(reported));
}

namespace {

RunEnd end_of(const RunReport& report) {
  RunEnd end;
  end.run = report.run;
  end.fence = report.fence;
  end.actor = report.worker;
  return end;
}

Result<RunAnswer> answer_of(Result<CommitOutcome> outcome) {
  if (!outcome) return std::move(outcome).error();
  if (outcome->kind == CommitOutcome::Kind::failed) return outcome->error;
  if (outcome->kind == CommitOutcome::Kind::duplicate_key && outcome->same_request) {
    return repeat_of(outcome_in(outcome->answer));
  }
  return outcome->kind == CommitOutcome::Kind::done ? RunAnswer::finished : RunAnswer::lease_lost;
}

bool has_ended_now(const Result<RunAnswer>& answer) {
  return answer && *answer == RunAnswer::finished && !answer->repeated;
}

}  // namespace

std::optional<RunReports::Exhausted> RunReports::exhausted_by(const ReportedEnd& reported) {
  if (!reported.exhausted) return std::nullopt;
  return Exhausted{reported.run, *reported.failure};
}

Result<RunAnswer> RunReports::told(Result<RunAnswer> answer, const std::optional<Exhausted>& exhausted,
                                   const RunEnd& end) {
  if (!answer) return answer;
  if (exhausted && has_ended_now(answer)) RunIncidents::exhausted(exhausted->run, exhausted->failure);
  if (*answer == RunAnswer::lease_lost) {
    deliveries_.defer([this, run = end.run, fence = end.fence, worker = end.actor] {
      if (const auto row = store_.find_run(run); row && *row) incidents_.lease_lost(**row, fence, worker);
    });
  }
  return answer;
}

Result<RunAnswer> RunReports::report(const RunReport& given) {
  RunReport report = given;
  CAIRN_TRY(const auto prepared, prepare_end(report));
  if (const auto* answer = std::get_if<RunAnswer>(&prepared)) return told(*answer, std::nullopt, end_of(given));
  const auto& reported = std::get<ReportedEnd>(prepared);
  if (!reported.run.instance) return end_alone(reported);
  auto delivered = deliveries_.wait_for<Deliveries::Outcome>(
      [&](Done<Deliveries::Outcome> done) { deliveries_.deliver(delivery_of(reported), std::move(done)); });
  return told(ended_by(reported.end, reported.key, std::move(delivered)), exhausted_by(reported), reported.end);
}

Unit RunReports::unit_of(const ReportedEnd& reported) const {
  Unit unit;
  unit.run = reported.end;
  unit.key = reported.key;
  if (reported.exhausted) {
    unit.dead_letters = {letter_of(reported.run, *reported.failure, context_.node)};
    unit.incidents = {exhausted_event(reported.run, *reported.failure)};
  }
  unit.actor = context_.node;
  return unit;
}

Result<RunAnswer> RunReports::end_alone(const ReportedEnd& reported) {
  auto answer = answer_of(deliveries_.queue().commit(unit_of(reported)));
  if (has_ended_now(answer)) listeners_.tell_run_ended(reported.run);
  return told(std::move(answer), exhausted_by(reported), reported.end);
}

std::vector<Result<RunAnswer>> RunReports::report_all(std::span<RunReport> reports) {
  // A few ends are cheaper in the commit of other queued units.
  constexpr std::size_t many = 32;
  // A direct end has no key.
  const bool directly = reports.size() >= many && store_.traits().ends_runs_directly && RequestKey::current().empty();
  return deliveries_.wait_for<std::vector<Result<RunAnswer>>>(
      [&](Done<std::vector<Result<RunAnswer>>> done) { report_all(reports, directly, std::move(done)); });
}

void RunReports::report_all(std::span<RunReport> reports, Done<std::vector<Result<RunAnswer>>> done) {
  report_all(reports, false, std::move(done));
}

void RunReports::report_all(std::span<RunReport> reports, bool directly, Done<std::vector<Result<RunAnswer>>> done) {
  struct Answers {
    // One more than there are reports, so that `done` is not called before all are submitted.
    Answers(std::size_t count, Done<std::vector<Result<RunAnswer>>> told)
        : list(count, Result<RunAnswer>(RunAnswer::lease_lost)), open(count + 1), done(std::move(told)) {}
    std::vector<Result<RunAnswer>> list;
    std::atomic<std::size_t> open;
    Done<std::vector<Result<RunAnswer>>> done;
  };
  auto answers = std::make_shared<Answers>(reports.size(), std::move(done));
  const auto answer = [answers](std::size_t i, Result<RunAnswer> given) {
    answers->list[i] = std::move(given);
    if (--answers->open == 0) answers->done(std::move(answers->list));
  };
  std::vector<Unit> units;
  std::vector<RunEnd> ends;
  std::vector<std::size_t> places_of_ends;  // among the reports
  struct Submitted {
    std::size_t place;  // among the reports
    RunEnd end;         // run, fence and actor only
    std::optional<Exhausted> exhausted;
  };
  std::vector<Submitted> submitted;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    auto prepared = prepare_end(reports[i]);
    if (!prepared) {
      answer(i, std::move(prepared).error());
    } else if (const auto* known = std::get_if<RunAnswer>(&*prepared)) {
      answer(i, told(*known, std::nullopt, end_of(reports[i])));
    } else {
      auto& reported = std::get<ReportedEnd>(*prepared);
      if (reported.run.instance) {
        deliveries_.deliver(delivery_of(reported), [this, answer, i, end = reported.end, key = reported.key,
                                                    exhausted = exhausted_by(reported)](Deliveries::Outcome delivered) {
          if (delivered ? delivered->kind == Delivered::Kind::applied : !key) {
            return answer(i, told(ended_by(end, key, std::move(delivered)), exhausted, end));
          }
          // The row or the key shows whether an earlier report has ended the run.
          deliveries_.defer([this, answer, i, end, key, delivered = std::move(delivered)] {
            answer(i, told(ended_by(end, key, delivered), std::nullopt, end));
          });
        });
      } else if (listeners_.follows(reported.run)) {
        // This thread must call the follower.
        answer(i, end_alone(reported));
      } else if (directly && !reported.exhausted) {
        ends.push_back(std::move(reported.end));
        places_of_ends.push_back(i);
      } else {
        units.push_back(unit_of(reported));
        submitted.push_back({i, end_of(reports[i]), exhausted_by(reported)});
      }
    }
  }
  deliveries_.queue().submit_all(std::move(units),
                                 [this, answer, submitted = std::move(submitted)](std::size_t place, auto outcome) {
                                   const Submitted& one = submitted[place];
                                   answer(one.place, told(answer_of(std::move(outcome)), one.exhausted, one.end));
                                 });
  if (!ends.empty()) {
    auto outcomes = store_.end_runs(ends);
    for (std::size_t i = 0; i < ends.size(); ++i) {
      auto written = answer_of(outcomes ? Result<CommitOutcome>(std::move((*outcomes)[i])) : outcomes.error());
      answer(places_of_ends[i], told(std::move(written), std::nullopt, ends[i]));
    }
  }
  if (--answers->open == 0) answers->done(std::move(answers->list));
}

Delivery RunReports::delivery_of(const ReportedEnd& reported) const {
  Delivery delivery;
  delivery.instance = *reported.run.instance;
  delivery.what =
      RunFinished{reported.run.token, reported.end.result, reported.failure, std::max(1, reported.run.attempt)};
  delivery.actor = LeaseHolder::parse(reported.end.actor).actor();
  delivery.cause.run = reported.end;
  delivery.cause.key = reported.key;
  if (reported.exhausted) {
    delivery.cause.dead_letters = {letter_of(reported.run, *reported.failure, context_.node)};
    delivery.cause.incidents = {exhausted_event(reported.run, *reported.failure)};
  }
  return delivery;
}

Result<std::optional<RunAnswer>> RunReports::first_answer(const std::optional<IdempotencyKey>& key) {
  CAIRN_TRY(const auto outcome, first_outcome(context_.store, key));
  return outcome ? std::optional(repeat_of(*outcome)) : std::nullopt;
}

Result<RunAnswer> RunReports::ended_by(const RunEnd& end, const std::optional<IdempotencyKey>& key,
                                       Deliveries::Outcome delivered) {
  if (!delivered) {
    if (delivered.error().kind != DeliveryError::Kind::store) {
      // Another node may have carried the report out, and its instance takes no second one.
      const auto first = first_answer(key);
      if (first && *first) return **first;
    }
    // If the instance cannot take the result now, the lease expires and the run is retried.
    return std::move(delivered).error().error;
  }
  if (delivered->kind == Delivered::Kind::applied) return RunAnswer::finished;
  if (delivered->kind == Delivered::Kind::duplicate_key && delivered->same_request) {
    return repeat_of(outcome_in(delivered->answer));
  }
  CAIRN_TRY(const auto after, store_.find_run(end.run));
  const bool ours = after && is_final(after->status) && after->fence == end.fence;
  return ours && after->status != RunStatus::cancelled ? RunAnswer::finished : RunAnswer::lease_lost;
}

}  // namespace cairn
