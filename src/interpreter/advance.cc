#include "interpreter/advance.h"

#include <algorithm>

#include "interpreter/machine.h"
#include "interpreter/merge_patch.h"
#include "interpreter/waiting.h"
#include "schema/error_places.h"

namespace cairn {
namespace {

Advance stale(const Snapshot& before) {
  Advance advance;
  advance.outcome = Advance::Outcome::stale;
  advance.from_state_version = before.state_version;
  advance.after = before;
  return advance;
}

Error conflict(const Snapshot& snapshot, const std::string& what) {
  return {ErrorCode::conflict,
          "instance " + snapshot.instance.value + " is " + to_string(snapshot.status) + ": " + what};
}

// Keeps a wake-up of a suspended instance until the instance resumes.
Advance hold(const Snapshot& before, const Event& event, HeldWakeup wakeup) {
  for (const HeldWakeup& held : before.held) {
    if (held.token == wakeup.token) return stale(before);
  }
  Advance advance;
  advance.from_state_version = before.state_version;
  advance.after = before;
  advance.after.state_version += 1;
  advance.after.changed_at = event.at;
  advance.after.last_event = event.id.value;
  wakeup.state_version = advance.after.state_version;
  advance.after.held.push_back(std::move(wakeup));
  return advance;
}

Json because(const std::string& reason) { return reason.empty() ? Json::object() : Json::object({{"reason", reason}}); }

bool is_open(const Snapshot& snapshot, const WaitToken& token, WaitKind kind) {
  for (const Wait& wait : snapshot.waits) {
    if (wait.token == token) return wait.kind == kind;
  }
  return false;
}

// Applies one event to a loaded machine and then runs the ready strands.
class Application {
 public:
  Application(const Program& program, const Setting& setting, const Snapshot& before, const Event& event)
      : program_(program), setting_(setting), before_(before), event_(event) {}

  Result<Advance> operator()(const Started&) const {
    return Error{ErrorCode::conflict, "instance " + before_.instance.value + " has been started already"};
  }
  Result<Advance> operator()(const Continued&) const {
    if (before_.status != Status::running) return stale(before_);
    return run([](Machine&) -> Result<void> { return {}; });
  }
  Result<Advance> operator()(const SignalReceived& signal) const {
    if (is_final(before_.status)) return stale(before_);
    CAIRN_TRY_VOID(check_payload(program_, signal));
    if (before_.status == Status::suspended) return keep(signal);
    return run([&](Machine& machine) { return deliver_signal(machine, signal, event_.at); });
  }
  Result<Advance> operator()(const TimerFired& timer) const {
    if (!is_final(before_.status)) {
      for (const BufferedSignal& kept : before_.signals) {
        if (kept.until && kept.token == timer.token) return expire(kept);
      }
    }
    Wakening wakening;
    wakening.task_fields = timer.task_fields;
    return wake(timer.token, WaitKind::timer, std::move(wakening));
  }
  Result<Advance> operator()(const RunFinished& run) const {
    Wakening wakening;
    wakening.payload = run.result;
    wakening.failure = run.failure;
    wakening.attempt = run.attempt;
    return wake(run.token, WaitKind::run, std::move(wakening));
  }
  Result<Advance> operator()(const ChildFinished& child) const {
    Wakening wakening;
    wakening.payload = child.output;
    wakening.failure = child.failure;
    return wake(child.token, WaitKind::subworkflow, std::move(wakening));
  }
  Result<Advance> operator()(const TaskExpired& expired) const {
    const Wait* wait = find_task_wait(expired.task);
    if (!wait) return stale(before_);
    if (before_.status == Status::suspended) return conflict(before_, "its tasks do not expire");
    return run([&](Machine& machine) -> Result<void> {
      ActiveStrand* strand = machine.find_strand(wait->strand);
      if (!strand || strand->top().kind != ActiveFrame::Kind::step) {
        return Error{ErrorCode::corrupt, "no strand waits for task " + expired.task.value};
      }
      Turn turn(machine, *strand, strand->top().index);
      Json details = Json::object({{"name", wait->name}, {"task", expired.task.value}});
      machine.abandon_wait(*strand, wait->token, TaskStatus::expired);
      turn.fail(turn.failure(FailureClass::timeout, "task_stale", expired.reason, std::move(details)));
      return {};
    });
  }
  Result<Advance> operator()(const TaskCompleted& completion) const {
    const Wait* wait = find_task_wait(completion.task);
    if (!wait) return stale(before_);
    if (before_.status == Status::suspended)
      return conflict(before_, "tasks can be completed when it has been resumed");
    return run([&](Machine& machine) -> Result<void> {
      ActiveStrand* strand = machine.find_strand(wait->strand);
      if (!strand || strand->top().kind != ActiveFrame::Kind::step) {
        return Error{ErrorCode::corrupt, "no strand waits for task " + completion.task.value};
      }
      Turn turn(machine, *strand, strand->top().index);
      const auto task = find_task(turn, wait->token);
      if (!task)
        return Error{ErrorCode::corrupt, "step " + turn.step.id + " does not know task " + completion.task.value};
      CAIRN_TRY_VOID(check_completion(turn, *task, completion));
      record_completion(turn, *task, completion.by);
      machine.wake(*strand, {.wait = machine.take_wait(wait->token),
                             .payload = completion.payload,
                             .failure = {},
                             .by = completion.by,
                             .task_fields = completion.task_fields});
      return {};
    });
  }
  Result<Advance> operator()(const CancelRequested& request) const {
    if (is_final(before_.status)) return conflict(before_, "it cannot be cancelled");
    return run([&](Machine& machine) -> Result<void> {
      Failure failure;
      failure.failure_class = FailureClass::business;
      failure.code = "cancelled";
      failure.message = request.reason.empty() ? "the instance was cancelled" : request.reason;
      machine.end_instance(Status::cancelled, {}, std::move(failure));
      return {};
    });
  }
  Result<Advance> operator()(const SuspendRequested& request) const {
    if (is_final(before_.status) || before_.status == Status::suspended) {
      return conflict(before_, "it cannot be suspended");
    }
    return run([&](Machine& machine) -> Result<void> {
      machine.pause(request.reason);
      return {};
    });
  }
  Result<Advance> operator()(const ResumeRequested& request) const {
    if (before_.status != Status::suspended) return conflict(before_, "only a suspended instance can be resumed");
    return run_again(because(request.reason), [](Machine&) -> Result<void> { return {}; });
  }
  Result<Advance> operator()(const RetryRequested& request) const {
    if (before_.status != Status::suspended || !before_.error) return conflict(before_, "there is nothing to retry");
    Json details = because(request.reason);
    details.set("retry", before_.error->step.empty() ? Json() : Json(before_.error->step));
    if (request.new_key) details.set("new_key", true);
    return run_again(std::move(details), [&](Machine& machine) -> Result<void> {
      if (request.new_key) machine.want_new_keys();
      return {};
    });
  }
  Result<Advance> operator()(const SkipRequested& request) const {
    if (before_.status != Status::suspended || before_.failed_strand == 0) {
      return conflict(before_, "there is no failed step to skip");
    }
    return run_again(because(request.reason), [&](Machine& machine) -> Result<void> {
      ActiveStrand* strand = machine.find_strand(before_.failed_strand);
      if (!strand) return Error{ErrorCode::corrupt, "the failed strand does not exist"};
      return machine.skip(*strand, request.result, request.reason);
    });
  }
  Result<Advance> operator()(const StateEdited& edit) const {
    if (is_final(before_.status)) return conflict(before_, "its state cannot be edited any more");
    Json state = merge_patch(before_.state, edit.merge_patch);
    if (!state.is_object()) return Error{ErrorCode::invalid, "the patch must be an object: state is one"};
    std::vector<ErrorPlace> places;
    if (program_.state_schema && !program_.state_schema->accepts(state)) {
      places = schema::error_places(program_.state_schema->check(state));
    }
    Machine machine(program_, setting_, before_, event_);
    CAIRN_TRY_VOID(machine.load());
    if (auto written = machine.write_state(nullptr, std::move(state)); !written) {
      const bool limit = written.error().failure_class == FailureClass::definition;
      if (limit) return Error{ErrorCode::limit, written.error().message};
      return Error{ErrorCode::invalid, written.error().message, std::move(places)};
    }
    Json details = because(edit.reason);
    details.set("changed", changed_by(before_.state, edit.merge_patch));
    machine.log(LogEntry::Kind::edited, "", std::move(details));
    return finish_unmoved(machine);
  }
  Result<Advance> operator()(const SignalDiscarded& discarded) const {
    if (is_final(before_.status)) return conflict(before_, "its signals cannot be discarded any more");
    Machine machine(program_, setting_, before_, event_);
    CAIRN_TRY_VOID(machine.load());
    auto& kept = machine.snapshot().signals;
    const auto found =
        std::find_if(kept.begin(), kept.end(), [&](const BufferedSignal& signal) { return signal.id == discarded.id; });
    if (found == kept.end()) {
      return Error{ErrorCode::not_found, "instance " + before_.instance.value + " keeps no signal " + discarded.id};
    }
    Json details = because(discarded.reason);
    details.set("discarded", Json::object({{"id", found->id}, {"name", found->name}}));
    machine.log(LogEntry::Kind::edited, "", std::move(details));
    machine.close_timer(found->token);
    kept.erase(found);
    return finish_unmoved(machine);
  }

 private:
  const Wait* find_task_wait(const TaskId& task) const {
    for (const Wait& open : before_.waits) {
      if (open.kind == WaitKind::task && open.target == task.value) return &open;
    }
    return nullptr;
  }
  template <class Apply>
  Result<Advance> run(Apply apply) const {
    Machine machine(program_, setting_, before_, event_);
    CAIRN_TRY_VOID(machine.load());
    CAIRN_TRY_VOID(apply(machine));
    machine.run();
    machine.apply_held();
    return machine.finish();
  }
  // Runs nothing. A slice that a checkpoint has cut stays cut and keeps its time.
  Advance finish_unmoved(Machine& machine) const {
    if (before_.status == Status::running) machine.out().unfinished = true;
    Advance unmoved = machine.finish();
    unmoved.after.slice_now = before_.slice_now;
    return unmoved;
  }
  template <class Apply>
  Result<Advance> run_again(Json details, Apply apply) const {
    return run([&](Machine& machine) -> Result<void> {
      machine.resume_instance(details.size() == 0 ? Json() : std::move(details));
      CAIRN_TRY_VOID(apply(machine));
      if (!is_final(machine.snapshot().status)) machine.apply_held_first();
      return {};
    });
  }
  Result<Advance> wake(const WaitToken& token, WaitKind kind, Wakening wakening) const {
    if (is_final(before_.status) || !is_open(before_, token, kind)) return stale(before_);
    if (before_.status == Status::suspended) {
      return hold(
          before_, event_,
          {.token = token, .result = wakening.payload, .failure = wakening.failure, .attempt = wakening.attempt});
    }
    return run([&](Machine& machine) -> Result<void> {
      wakening.wait = machine.take_wait(token);
      ActiveStrand* strand = machine.find_strand(wakening.wait.strand);
      if (!strand) return Error{ErrorCode::corrupt, "wait " + token.value + " belongs to no strand"};
      machine.wake(*strand, std::move(wakening));
      return {};
    });
  }
  Result<Advance> keep(const SignalReceived& signal) const {
    CAIRN_TRY_VOID(may_keep(setting_, before_, signal));
    Machine machine(program_, setting_, before_, event_);
    CAIRN_TRY_VOID(machine.load());
    keep_signal(machine, signal, event_.at, machine.snapshot().state_version);
    return machine.finish();
  }
  // The time of a kept signal is over. A suspended instance stays suspended.
  Result<Advance> expire(const BufferedSignal& signal) const {
    Machine machine(program_, setting_, before_, event_);
    CAIRN_TRY_VOID(machine.load());
    expire_signal(machine, signal.id);
    return finish_unmoved(machine);
  }

  const Program& program_;
  const Setting& setting_;
  const Snapshot& before_;
  const Event& event_;
};

}  // namespace

Result<Advance> start(const Program& program, const Setting& setting, const Event& event) {
  const auto* started = std::get_if<Started>(&event.what);
  if (!started) return Error{ErrorCode::invalid, "an instance begins with its start"};
  if (program.input && !program.input->accepts(started->input)) {
    std::string message = "the input does not fit " + program.name + " " + program.version + ":";
    const auto violations = program.input->check(started->input);
    for (const schema::Violation& violation : violations) {
      message += "\n  " + (violation.pointer.empty() ? std::string("/") : violation.pointer) + ": " + violation.message;
    }
    return Error{ErrorCode::invalid, message, schema::error_places(violations, "/input")};
  }
  Snapshot snapshot;
  snapshot.instance = started->instance;
  snapshot.program = {program.name, program.version, program.digest};
  snapshot.started_at = event.at;
  snapshot.input = started->input;
  snapshot.parent = started->parent;
  snapshot.trace = started->trace;
  Machine machine(program, setting, std::move(snapshot), event);
  machine.begin_instance(started->reference, started->inherited);
  machine.log(LogEntry::Kind::started, "");
  machine.run();
  return machine.finish();
}

Result<Advance> advance(const Program& program, const Setting& setting, const Snapshot& before, const Event& event) {
  return std::visit(Application(program, setting, before, event), event.what);
}

}  // namespace cairn
