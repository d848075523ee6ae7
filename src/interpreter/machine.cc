#include "interpreter/machine.h"

#include <algorithm>
#include <utility>

#include "interpreter/failures.h"
#include "interpreter/steps.h"
#include "interpreter/waiting.h"

namespace cairn {
namespace {

// Whether the step only decides which other steps run.
bool is_control(const StepBody& body) {
  return std::holds_alternative<IfStep>(body) || std::holds_alternative<SwitchStep>(body) ||
         std::holds_alternative<RepeatStep>(body) || std::holds_alternative<ParallelStep>(body) ||
         std::holds_alternative<TryStep>(body);
}

bool waits_outside(const StepBody& body) {
  return std::holds_alternative<TaskStep>(body) || std::holds_alternative<CallStep>(body) ||
         std::holds_alternative<FirstStep>(body) || std::holds_alternative<WaitStep>(body) ||
         std::holds_alternative<SignalStep>(body) || std::holds_alternative<SubworkflowStep>(body);
}

}  // namespace

Machine::Machine(const Program& program, const Setting& setting, Snapshot snapshot, const Event& event)
    : program_(program),
      setting_(setting),
      now_(event.at),
      actor_(event.actor),
      scope_(program, setting.config, out_.after, strands_, now_) {
  out_.from_state_version = snapshot.state_version;
  out_.after = std::move(snapshot);
  out_.after.state_version += 1;
  out_.after.changed_at = event.at;
  out_.after.last_event = event.id.value;
  if (out_.after.slice_now) {
    steps_ = out_.after.slice_steps;
    if (std::holds_alternative<Continued>(event.what)) {
      now_ = *out_.after.slice_now;
      scope_.set_now(now_);
    }
  }
}

Result<void> Machine::load() {
  auto strands = activate(program_, out_.after.strands);
  if (!strands) return std::move(strands).error();
  strands_ = std::move(strands).value();
  if (strands_.empty() || strands_.front()->parent != 0) return Error{ErrorCode::corrupt, "the main strand is missing"};
  for (const std::uint64_t id : out_.after.ready) {
    if (ActiveStrand* strand = find_strand(id)) make_ready(*strand);
  }
  return {};
}

expr::Budget Machine::budget() const {
  return {.steps_max = setting_.limits.expression_steps_max, .bytes_max = setting_.limits.expression_bytes_max};
}

void Machine::run() {
  while (!agenda_.empty() && !stopped_) {
    ActiveStrand* strand = find_strand(agenda_.back());
    if (strand && strand->ready) {
      take_turn(*strand);
    } else {
      agenda_.pop_back();
    }
  }
}

void Machine::take_turn(ActiveStrand& strand) {
  ActiveFrame& frame = strand.top();
  switch (frame.kind) {
    case ActiveFrame::Kind::start: return evaluate_start(strand);
    case ActiveFrame::Kind::compensating: return compensate_next(strand);
    case ActiveFrame::Kind::step: {
      Turn turn(*this, strand, frame.index);
      return std::visit([&](const auto& body) { resume(turn, body); }, turn.step.body);
    }
    case ActiveFrame::Kind::block: {
      const Block& block = program_.blocks[frame.index];
      if (frame.position < block.steps.size()) return begin_step(strand, block.steps[frame.position]);
      if (strand.frames.size() == 1) return end_strand(strand);
      const BlockIndex ended = frame.index;
      pop(strand);
      return leave_lane(strand, ended);
    }
  }
}

bool Machine::checkpoint_cuts() {
  if (program_.checkpoint != Checkpoint::step || !worked_) return false;
  out_.unfinished = true;
  stopped_ = true;
  return true;
}

void Machine::begin_step(ActiveStrand& strand, StepIndex index) {
  if (checkpoint_cuts()) return;
  Turn turn(*this, strand, index);
  const std::int64_t steps_max = setting_.limits.steps_per_slice_max;
  if (steps_ >= steps_max) {
    return raise(strand, turn.failure(FailureClass::definition, "limit_steps",
                                      "more than " + std::to_string(steps_max) +
                                          " steps began without a wait (limit: steps per slice)"));
  }
  ++steps_;
  if (setting_.trace) out_.trace.steps.push_back(index);
  if (turn.step.when) {
    auto wanted = turn.condition(*turn.step.when, "when");
    if (!wanted) return raise(strand, std::move(wanted).error());
    if (!*wanted) {
      ++strand.top().position;
      return;
    }
  }
  if (!is_control(turn.step.body)) worked_ = true;
  std::visit([&](const auto& body) { begin(turn, body); }, turn.step.body);
}

void Machine::leave_lane(ActiveStrand& strand, BlockIndex block) {
  if (strand.top().kind != ActiveFrame::Kind::step) return;
  Turn turn(*this, strand, strand.top().index);
  std::visit([&](const auto& body) { lane_ended(turn, body, block); }, turn.step.body);
}

void Machine::wake(ActiveStrand& strand, Wakening wakening) {
  if (strand.top().kind != ActiveFrame::Kind::step) return;
  worked_ = true;
  woken_attempt_ = wakening.attempt;
  make_ready(strand);
  Turn turn(*this, strand, strand.top().index);
  std::visit([&](const auto& body) { woken(turn, body, std::move(wakening)); }, turn.step.body);
}

void Machine::wake_held() {
  HeldWakeup next = std::move(out_.after.held.front());
  out_.after.held.erase(out_.after.held.begin());
  const Wait* wait = find_wait(next.token);
  if (!wait) return;
  ActiveStrand* strand = find_strand(wait->strand);
  if (!strand) return;
  wake(*strand, {.wait = take_wait(next.token),
                 .payload = std::move(next.result),
                 .failure = std::move(next.failure),
                 .by = {},
                 .task_fields = {},
                 .attempt = next.attempt});
}

void Machine::apply_held() {
  while (!stopped_) {
    const auto& signals = out_.after.signals;
    const auto& held = out_.after.held;
    const auto signal =
        std::find_if(signals.begin(), signals.end(), [](const BufferedSignal& kept) { return kept.held > 0; });
    if (!held.empty() && (signal == signals.end() || held.front().state_version < signal->held)) {
      wake_held();
    } else if (signal != signals.end()) {
      offer_held_signal(*this, static_cast<std::size_t>(signal - signals.begin()));
    } else {
      return;
    }
    run();
  }
}

void Machine::apply_held_first() {
  could_run_ = std::exchange(agenda_, {});
  for (const std::uint64_t id : could_run_) {
    if (ActiveStrand* strand = find_strand(id)) strand->ready = false;
  }
  offer_kept_signals(*this);
  run();
  apply_held();
  const std::vector<std::uint64_t> next = std::exchange(agenda_, {});
  if (is_final(out_.after.status)) return;
  for (const std::uint64_t id : std::exchange(could_run_, {})) {
    ActiveStrand* strand = find_strand(id);
    if (!strand) continue;
    strand->ready = false;
    make_ready(*strand);
  }
  agenda_.insert(agenda_.end(), next.begin(), next.end());
}

void Machine::end_strand(ActiveStrand& strand) {
  if (strand.parent == 0) return finish_main(strand, std::nullopt);
  ActiveStrand* parent = find_strand(strand.parent);
  remove_strand(strand.id);
  if (!parent || parent->top().kind != ActiveFrame::Kind::step) return;
  Turn turn(*this, *parent, parent->top().index);
  std::visit([&](const auto& body) { strand_ended(turn, body); }, turn.step.body);
}

void Machine::push_step(ActiveStrand& strand, StepIndex step, Json data) {
  strand.frames.push_back({ActiveFrame::Kind::step, step, 0, std::move(data)});
  scope_.forget();
}

void Machine::push_block(ActiveStrand& strand, BlockIndex block) {
  if (setting_.trace) out_.trace.blocks.push_back(block);
  strand.frames.push_back({ActiveFrame::Kind::block, block, 0, {}});
  scope_.forget();
}

void Machine::pop(ActiveStrand& strand) {
  strand.frames.pop_back();
  scope_.forget();
}

void Machine::unwind(ActiveStrand& strand, std::size_t depth) {
  cancel_children(strand);
  abandon_waits(strand);
  while (strand.frames.size() > depth) pop(strand);
}

void Machine::end_step(ActiveStrand& strand, std::string visit, Json result) {
  ActiveFrame& frame = strand.top();
  const StepIndex index = program_.blocks[frame.index].steps[frame.position];
  const Step& step = program_.steps[index];
  // One row per step would cost more than the step itself. Steps that did not wait share the next row.
  constexpr std::size_t named_max = 50;
  if (waits_outside(step.body)) {
    Json::Members details;
    details.reserve(4);  // `named` may add two
    const bool woken = woken_step_ == step.id;
    if (woken) details.emplace_back("duration_ms", Json(between(woken_since_, now_).ms_up()));
    woken_step_.clear();
    if (!result.is_null()) details.emplace_back("result", std::move(result));
    log(LogEntry::Kind::completed, step.id, details.empty() ? Json() : Json::object(std::move(details)),
        woken ? woken_attempt_ : 1, std::move(visit));
  } else if (ran_.size() < named_max) {
    ran_.push_back(index);
  } else {
    ++ran_more_;
  }
  if (step.compensate != no_index) register_compensation(strand, step);
  ++frame.position;
}

Json Machine::named(Json details) {
  if (ran_.empty()) return details;
  Json ran = Json::array();
  for (const StepIndex index : ran_) ran.push_back(program_.steps[index].id);
  if (!details.is_object()) details = Json::object();
  details.set("ran", std::move(ran));
  if (ran_more_ > 0) details.set("ran_more", ran_more_);
  ran_.clear();
  ran_more_ = 0;
  return details;
}

void Machine::log(LogEntry::Kind kind, const std::string& step, Json details, int attempt, std::string visit) {
  out_.log.push_back({.kind = kind,
                      .step = step,
                      .at = now_,
                      .actor = actor_,
                      .attempt = attempt,
                      .details = named(std::move(details)),
                      .visit = std::move(visit)});
}

Advance Machine::finish() {
  Snapshot& after = out_.after;
  // A commit without other log entries still records the steps that ran.
  if (!ran_.empty()) log(LogEntry::Kind::completed, program_.steps[ran_.back()].id);
  after.ready.clear();
  after.slice_now.reset();
  after.slice_steps = 0;
  if (is_final(after.status)) return std::move(out_);
  if (out_.unfinished) {
    after.status = Status::running;
    after.slice_now = now_;
    after.slice_steps = steps_;
  } else if (after.status != Status::suspended) {
    after.status = Status::waiting;
  }
  for (const std::uint64_t id : agenda_) {
    const ActiveStrand* strand = find_strand(id);
    if (!strand || !strand->ready) continue;
    std::erase(after.ready, id);
    after.ready.push_back(id);
  }
  after.strands = put_to_rest(program_, std::move(strands_));
  return std::move(out_);
}

}  // namespace cairn
