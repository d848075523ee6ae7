// The start of an instance, the search for an error handler, and the end of an instance.
#include <algorithm>

#include "interpreter/call_keys.h"
#include "interpreter/failures.h"
#include "interpreter/machine.h"
#include "interpreter/reference.h"
#include "interpreter/steps.h"

namespace cairn {

void Machine::evaluate_start(ActiveStrand& strand) {
  Snapshot& after = out_.after;
  const Json given = strand.top().data["reference"];
  const Json inherited = strand.top().data["inherited"];
  if (!given.is_null()) {
    after.reference = reference_from_json(given);
  } else if (program_.reference) {
    auto evaluated =
        evaluate_reference(program_, nullptr, *program_.reference, Reference{}, scope_.bind_globals(), budget());
    if (!evaluated) return raise(strand, std::move(evaluated).error());
    auto parts = bounded(nullptr, std::move(evaluated->parts), "reference.parts");
    if (!parts) return raise(strand, std::move(parts).error());
    auto key = bounded_key(nullptr, std::move(evaluated->key), "reference.key");
    if (!key) return raise(strand, std::move(key).error());
    after.reference = {std::move(*key), std::move(*parts)};
  } else if (!inherited.is_null()) {
    after.reference = reference_from_json(inherited);
  }
  scope_.forget_reference();
  if (program_.state) {
    auto state = program_.state->evaluate(scope_.bind_globals(), budget());
    const expr::Expression* single = program_.state->single();
    if (!state) {
      return raise(strand, expression_failure(program_, nullptr, state.error(), "state", single ? single->text() : ""));
    }
    if (!state->is_object()) {
      return raise(strand, make_failure(program_, nullptr, FailureClass::expression, "invalid_argument",
                                        std::string("state must be an object, not ") + to_string(state->kind())));
    }
    if (auto written = write_state(nullptr, std::move(*state)); !written)
      return raise(strand, std::move(written).error());
  }
  pop(strand);
  push_block(strand, 0);
}

void Machine::finish_main(ActiveStrand& strand, std::optional<Json> output) {
  if (!output && program_.output) {
    auto evaluated = program_.output->evaluate(scope_.bind_globals(), budget());
    if (!evaluated) {
      const expr::Expression* single = program_.output->single();
      return raise(strand,
                   expression_failure(program_, nullptr, evaluated.error(), "output", single ? single->text() : ""));
    }
    auto fits = bounded(nullptr, std::move(*evaluated), "output");
    if (!fits) return raise(strand, std::move(fits).error());
    output = std::move(*fits);
  }
  end_instance(Status::completed, output ? std::move(*output) : Json(), std::nullopt);
}

void Machine::raise(ActiveStrand& strand, Failure failure) {
  std::string visit = visit_of(strand, failure.step);
  raise(strand, std::move(failure), std::move(visit));
}

void Machine::raise(ActiveStrand& strand, Failure failure, std::string visit) {
  log(LogEntry::Kind::faulted, failure.step, to_json(failure), failure.attempt, std::move(visit));
  if (is_uncatchable(failure)) return suspend(&strand, std::move(failure));
  Json calls = failed_calls(*this, strand);
  for (ActiveStrand* at = &strand; at; at = find_strand(at->parent)) {
    for (std::size_t i = at->frames.size(); i-- > 0;) {
      const ActiveFrame& frame = at->frames[i];
      if (frame.kind == ActiveFrame::Kind::compensating) return suspend(&strand, std::move(failure));
      if (frame.kind != ActiveFrame::Kind::step) continue;
      const StepBody& body = program_.steps[frame.index].body;
      if (std::holds_alternative<UndoStep>(body)) calls = {};  // a retry makes the calls of another compensation
      const auto* attempt = std::get_if<TryStep>(&body);
      if (attempt && intercept(*this, *at, i, *attempt, failure, calls)) return;
    }
  }
  unhandled(&strand, std::move(failure));
}

void Machine::unhandled(ActiveStrand* strand, Failure failure) {
  // The undos of the first error are already running (rule S17).
  if (main_strand().frames.front().kind == ActiveFrame::Kind::compensating) return suspend(strand, std::move(failure));
  const bool decision = failure.failure_class == FailureClass::business;
  switch (program_.on_error) {
    case OnError::compensate: return begin_compensating(std::move(failure));
    case OnError::fail: return end_instance(Status::failed, {}, std::move(failure));
    case OnError::suspend:
      if (decision) return end_instance(Status::failed, {}, std::move(failure));
      return suspend(strand, std::move(failure));
  }
}

void Machine::suspend(ActiveStrand* strand, Failure failure) {
  Snapshot& after = out_.after;
  after.status = Status::suspended;
  after.failed_strand = strand ? strand->id : 0;
  // On resume, the place that failed runs first.
  if (strand) make_ready(*strand);
  log(LogEntry::Kind::suspended, failure.step, to_json(failure), failure.attempt);
  after.error = std::move(failure);
  stopped_ = true;
}

void Machine::pause(const std::string& reason) {
  out_.after.status = Status::suspended;
  log(LogEntry::Kind::suspended, "", reason.empty() ? Json() : Json::object({{"reason", reason}}));
  stopped_ = true;
}

void Machine::resume_instance(Json details) {
  out_.after.status = Status::running;
  out_.after.error.reset();
  out_.after.failed_strand = 0;
  log(LogEntry::Kind::resumed, "", std::move(details));
}

void Machine::complete(ActiveStrand& strand, std::optional<Json> output) {
  std::vector<std::uint64_t> own{strand.id};
  for (const ActiveStrand* outer = find_strand(strand.parent); outer; outer = find_strand(outer->parent)) {
    own.push_back(outer->id);
  }
  cancel_all_but(own);
  // The enclosing strands only wait for this one. Answering them, or starting another branch, would continue the
  // process while a `finally` is still waiting.
  for (std::size_t i = 1; i < own.size(); ++i) {
    ActiveStrand* outer = find_strand(own[i]);
    abandon_waits(*outer);
    outer->ready = false;
    std::erase(could_run_, outer->id);
    leave_one_branch(*outer);
  }
  complete_from(strand, std::move(output));
}

// If an error replaces the `complete`, the process continues with the single branch that is left.
void Machine::leave_one_branch(ActiveStrand& strand) {
  ActiveFrame& frame = strand.top();
  if (frame.kind != ActiveFrame::Kind::step) return;
  const auto* parallel = std::get_if<ParallelStep>(&program_.steps[frame.index].body);
  if (!parallel) return;
  const auto count = static_cast<std::int64_t>(parallel->branches.size());
  if (!frame.data.is_object()) frame.data = Json::object();
  frame.data.set("begun", count);
  frame.data.set("ended", count - 1);
}

void Machine::complete_from(ActiveStrand& strand, std::optional<Json> output) {
  ActiveStrand* at = &strand;
  while (true) {
    while (!at->frames.empty()) {
      const ActiveFrame& frame = at->top();
      if (frame.kind == ActiveFrame::Kind::step) {
        const auto* attempt = std::get_if<TryStep>(&program_.steps[frame.index].body);
        if (attempt && holds_up_complete(*this, *at, *attempt, output)) return;
      }
      abandon_waits(*at);
      pop(*at);
    }
    ActiveStrand* parent = find_strand(at->parent);
    if (!parent) break;
    remove_strand(at->id);
    at = parent;
  }
  // The position is past the last step. If the output cannot be evaluated, a resume evaluates it again.
  at->frames.push_back({ActiveFrame::Kind::block, 0, static_cast<std::uint32_t>(program_.blocks[0].steps.size()), {}});
  make_ready(*at);
  finish_main(*at, std::move(output));
}

void Machine::end_instance(Status status, Json output, std::optional<Failure> failure) {
  Snapshot& after = out_.after;
  for (const auto& strand : strands_) abandon_waits(*strand);
  for (const BufferedSignal& kept : after.signals) close_timer(kept.token);
  strands_.clear();
  agenda_.clear();
  scope_.forget();
  after.strands.clear();
  after.waits.clear();
  after.compensations.clear();
  after.held.clear();
  after.failed_strand = 0;
  after.status = status;
  after.output = std::move(output);
  after.error = std::move(failure);
  const LogEntry::Kind kind = status == Status::completed   ? LogEntry::Kind::completed
                              : status == Status::cancelled ? LogEntry::Kind::cancelled
                                                            : LogEntry::Kind::faulted;
  log(kind, "", after.error ? to_json(*after.error) : Json());
  if (after.parent) out_.notice = ParentNotice{*after.parent, after.output, after.error};
  stopped_ = true;
}

void Machine::begin_compensating(Failure failure) {
  ActiveStrand& main = main_strand();
  cancel_children(main);
  abandon_waits(main);
  main.frames.clear();
  main.frames.push_back({ActiveFrame::Kind::compensating, no_index, 0, Json::object({{"error", to_json(failure)}})});
  scope_.forget();
  make_ready(main);
}

void Machine::compensate_next(ActiveStrand& strand) {
  auto entry = take_compensation(strand);
  if (!entry) {
    auto failure = failure_from_json(strand.top().data["error"]);
    return end_instance(Status::failed, {}, failure ? std::move(failure).value() : Failure{});
  }
  const StepIndex step = program_.places.find_step(entry->place);
  if (step == no_index || program_.steps[step].compensate == no_index) return;
  Json& held = strand.top().data;
  if (!held.is_object()) held = Json::object();
  held.set("scope", std::move(entry->scope));
  push_block(strand, program_.steps[step].compensate);
}

std::uint64_t Machine::branch_of(const ActiveStrand& strand) {
  const ActiveStrand* at = &strand;
  while (at->parent != 0) {
    if (!at->frames.empty() && at->frames.front().kind == ActiveFrame::Kind::block) {
      const StepIndex owner = program_.blocks[at->frames.front().index].owner;
      if (owner != no_index && std::holds_alternative<ParallelStep>(program_.steps[owner].body)) break;
    }
    const ActiveStrand* parent = find_strand(at->parent);
    if (!parent) break;
    at = parent;
  }
  return at->id;
}

void Machine::register_compensation(ActiveStrand& strand, const Step& step) {
  out_.after.compensations.push_back(
      {.place = step.path, .branch = branch_of(strand), .scope = scope_.loop_names(strand)});
}

std::optional<Compensation> Machine::take_compensation(const ActiveStrand& strand) {
  auto& entries = out_.after.compensations;
  const std::uint64_t branch = branch_of(strand);
  const bool all = branch == main_strand().id;
  for (std::size_t i = entries.size(); i-- > 0;) {
    if (!all && entries[i].branch != branch) continue;
    Compensation taken = std::move(entries[i]);
    entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(i));
    return taken;
  }
  return std::nullopt;
}

}  // namespace cairn
