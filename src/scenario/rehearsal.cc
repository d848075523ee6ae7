#include "scenario/rehearsal.h"

#include <algorithm>

#include "instance/retry.h"

namespace cairn {
namespace {

constexpr std::size_t instances_max = 1'000;

Failure no_handler(const RunIntent& run) {
  Failure failure;
  failure.failure_class = FailureClass::transport;
  failure.code = "no_handler_registered";
  failure.message = "nothing handles " + run.type + " here; give a reply for it";
  return failure;
}

bool is_transport(const RunIntent& run) { return run.type.starts_with("cairn."); }

}  // namespace

Rehearsal::Rehearsal(Options options) : options_(std::move(options)), now_(options_.begins_at) {}

// Event ids are made as the engine makes them, so that both store the same bytes.
Event Rehearsal::event_of(const InstanceId& id, EventBody what) const {
  Event event;
  const Instance* instance = find(id);
  const std::uint64_t state_version = instance ? instance->snapshot.state_version + 1 : 1;
  const auto* signal = std::get_if<SignalReceived>(&what);
  event.id.value = signal ? signal->id : id.value + ":" + std::to_string(state_version);
  event.at = now_;
  event.actor = "cli";
  event.what = std::move(what);
  return event;
}

const Rehearsal::Instance* Rehearsal::find(const InstanceId& id) const {
  const auto found = instances_.find(id);
  return found == instances_.end() ? nullptr : &found->second;
}

Result<void> Rehearsal::start(std::shared_ptr<const Program> program, InstanceId id, Json input,
                              std::optional<Reference> reference) {
  root_ = id;
  Started started;
  started.instance = id;
  started.input = std::move(input);
  started.reference = std::move(reference);
  CAIRN_TRY(Advance first, cairn::start(*program, options_.setting, event_of(id, std::move(started))));
  instances_[id].program = std::move(program);
  order_.push_back(id);
  CAIRN_TRY_VOID(take(id, std::move(first)));
  return run_until_waiting();
}

Result<void> Rehearsal::start_child(const InstanceId& parent, const InstanceStart& start) {
  const auto known = options_.setting.known;
  auto program = known ? known->find(start.name, start.version) : nullptr;
  const auto refuse = [&](const char* code, const std::string& message) {
    Failure failure;
    failure.failure_class = FailureClass::definition;
    failure.code = code;
    failure.message = message;
    letters_.push_back({parent, ChildFinished{*start.token, {}, std::move(failure)}});
  };
  // The bound stops a definition that starts itself.
  if (order_.size() >= instances_max) {
    refuse("limit_instances", "more than " + std::to_string(instances_max) + " instances in one run");
    return {};
  }
  if (!program) {
    refuse("unknown_workflow", "no definition " + start.name + " is known");
    return {};
  }
  Started started;
  started.instance = start.id;
  started.input = start.input;
  started.reference = start.reference;
  started.inherited = start.inherited;
  started.parent = Parent{parent, *start.token};
  auto first = cairn::start(*program, options_.setting, event_of(start.id, std::move(started)));
  if (!first) {
    refuse("invalid_input", first.error().message);
    return {};
  }
  instances_[start.id].program = std::move(program);
  order_.push_back(start.id);
  return take(start.id, std::move(*first));
}

Result<void> Rehearsal::deliver(const Letter& letter) {
  const Instance* instance = find(letter.instance);
  if (!instance) return {};
  CAIRN_TRY(Advance next,
            advance(*instance->program, options_.setting, instance->snapshot, event_of(letter.instance, letter.what)));
  return take(letter.instance, std::move(next));
}

Result<void> Rehearsal::take(const InstanceId& id, Advance advance) {
  if (advance.outcome == Advance::Outcome::stale) return {};
  Instance& instance = instances_.at(id);
  collect(id, advance);
  if (advance.unfinished) letters_.push_front({id, Continued{}});
  if (options_.restart_at_every_commit || options_.record_commits) {
    std::string bytes = encode_snapshot(advance.after);
    if (options_.restart_at_every_commit) {
      CAIRN_TRY(Snapshot again, decode_snapshot(bytes));
      if (again != advance.after || encode_snapshot(again) != bytes) {
        return Error{ErrorCode::corrupt, "a snapshot changed while it was stored: " + bytes};
      }
      advance.after = std::move(again);
    }
    if (options_.record_commits) commits_.push_back(std::move(bytes));
  }
  instance.snapshot = std::move(advance.after);
  return {};
}

void Rehearsal::collect(const InstanceId& id, Advance& advance) {
  if (options_.setting.trace) {
    Trace& trace = traces_[instances_.at(id).program->digest];
    trace.steps.insert(trace.steps.end(), advance.trace.steps.begin(), advance.trace.steps.end());
    trace.blocks.insert(trace.blocks.end(), advance.trace.blocks.begin(), advance.trace.blocks.end());
  }
  for (const WaitToken& token : advance.waits_closed) {
    std::erase_if(timers_, [&](const Timer& timer) { return timer.token == token; });
  }
  for (const Wait& wait : advance.waits_opened) {
    if (wait.until) timers_.push_back({id, wait.token, *wait.until, ++sequence_});
  }
  for (TaskOpened& task : advance.tasks_opened) open_tasks_.push_back({id, std::move(task)});
  for (TaskClosed& closed : advance.tasks_closed) {
    const auto task = std::find_if(open_tasks_.begin(), open_tasks_.end(),
                                   [&](const OpenTask& open) { return open.row.id == closed.id; });
    if (task == open_tasks_.end()) continue;
    closed_tasks_.push_back({std::move(task->row), std::move(closed)});
    open_tasks_.erase(task);
  }
  for (const RunId& run : advance.runs_cancelled) {
    std::erase_if(runs_, [&](const PendingRun& pending) { return pending.intent.id == run; });
  }
  for (RunIntent& run : advance.runs) {
    runs_.push_back({id, std::move(run), 1, std::nullopt, std::nullopt, ++sequence_});
    begin_attempt(runs_.back());
  }
  for (InstanceStart& begun : advance.starts) {
    if (begun.token) {
      starts_.emplace_back(id, std::move(begun));
    } else {
      continuations_.push_back(std::move(begun));
    }
  }
  for (const InstanceId& child : advance.children_cancelled) {
    letters_.push_back({child, CancelRequested{"the parent no longer needs it"}});
  }
  for (OutboxEvent& event : advance.outbox) emitted_.push_back({id, std::move(event), now_});
  if (advance.notice) {
    ParentNotice& notice = *advance.notice;
    letters_.push_back({notice.parent.instance,
                        ChildFinished{notice.parent.token, std::move(notice.output), std::move(notice.failure)}});
  }
}

// Runs until only a person, a signal or time can continue.
Result<void> Rehearsal::run_until_waiting() {
  while (true) {
    // Children start before any message is delivered, because a message may cancel one of them.
    if (!starts_.empty()) {
      const auto [parent, begun] = std::move(starts_.front());
      starts_.erase(starts_.begin());
      CAIRN_TRY_VOID(start_child(parent, begun));
    } else if (!letters_.empty()) {
      const Letter letter = std::move(letters_.front());
      letters_.pop_front();
      auto delivered = deliver(letter);
      // A child that has already ended cannot be cancelled and does not need to be.
      if (!delivered && delivered.error().code != ErrorCode::conflict) return delivered;
    } else {
      attempt_runs();
      if (!letters_.empty()) continue;
      CAIRN_TRY(const bool offered, offer_kept_to_children());
      if (!offered) return {};
    }
  }
}

void Rehearsal::attempt_runs() {
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    PendingRun& run = runs_[i];
    if (run.again_at) continue;
    auto reply = take_reply(run);
    if (!reply && !options_.calls_fail_without_reply) continue;
    if (!reply) reply = CallReply{{}, {}, no_handler(run.intent)};
    return attempt(run, *reply);
  }
}

std::optional<CallReply> Rehearsal::take_reply(const PendingRun& run) {
  const std::string& target = is_transport(run.intent) ? run.intent.step : run.intent.type;
  const auto found =
      std::find_if(replies_.begin(), replies_.end(), [&](const CallReply& reply) { return reply.target == target; });
  if (found == replies_.end()) return std::nullopt;
  CallReply reply = std::move(*found);
  replies_.erase(found);
  return reply;
}

void Rehearsal::attempt(PendingRun& run, const CallReply& reply) {
  std::optional<Failure> failure = reply.failure;
  if (failure) {
    failure->attempt = run.attempt;
    if (is_retryable(*failure) && run.attempt < run.intent.attempts_max) {
      run.again_at = add(now_, retry_delay(run.intent, run.attempt)).value_or(now_);
      run.overdue_at.reset();
      run.order = ++sequence_;
      ++run.attempt;
      return;
    }
  }
  letters_.push_back({run.instance, RunFinished{run.intent.token, reply.result, std::move(failure), run.attempt}});
  const RunId done = run.intent.id;
  std::erase_if(runs_, [&](const PendingRun& pending) { return pending.intent.id == done; });
}

void Rehearsal::begin_attempt(PendingRun& run) {
  run.again_at.reset();
  run.overdue_at.reset();
  if (run.intent.timeout) run.overdue_at = add(now_, *run.intent.timeout);
}

Result<void> Rehearsal::reply_now(const CallReply& reply) {
  for (PendingRun& run : runs_) {
    const bool meant = run.intent.step == reply.target || run.intent.type == reply.target;
    if (!meant || run.again_at) continue;
    attempt(run, reply);
    return run_until_waiting();
  }
  return Error{ErrorCode::not_found, "no call to " + reply.target + " is pending"};
}

Result<void> Rehearsal::complete(const OpenTask& task, const std::string& by, const Json& payload) {
  const Letter letter{task.instance, TaskCompleted{task.row.id, by, payload, {}}};
  CAIRN_TRY_VOID(deliver(letter));
  return run_until_waiting();
}

Result<void> Rehearsal::signal(SignalReceived signal, std::optional<Duration> ttl) {
  if (is_final(root().snapshot.status)) {
    return Error{ErrorCode::conflict,
                 "instance " + root_.value + " is " + to_string(root().snapshot.status) + " and takes no more signals"};
  }
  if (ttl) signal.until = add(now_, *ttl);
  CAIRN_TRY_VOID(deliver({root_, std::move(signal)}));
  return run_until_waiting();
}

Result<void> Rehearsal::request(EventBody what) {
  CAIRN_TRY_VOID(deliver({root_, std::move(what)}));
  return run_until_waiting();
}

// A signal is sent to the run as a whole. If the root keeps it, each child that waits for its name is offered it. A
// child that does not take it stays unchanged.
Result<bool> Rehearsal::offer_kept_to_children() {
  const std::vector<BufferedSignal> kept = root().snapshot.signals;
  for (const BufferedSignal& signal : kept) {
    for (const InstanceId& id : order_) {
      if (id == root_) continue;
      const Instance& child = instances_.at(id);
      if (is_final(child.snapshot.status) || child.snapshot.status == Status::suspended) continue;
      const bool waits = std::any_of(child.snapshot.waits.begin(), child.snapshot.waits.end(), [&](const Wait& wait) {
        return wait.kind == WaitKind::signal && wait.name == signal.name &&
               (wait.key.is_null() || wait.key == signal.key);
      });
      if (!waits) continue;
      auto offered =
          advance(*child.program, options_.setting, child.snapshot,
                  event_of(id, SignalReceived{signal.id, signal.name, signal.key, signal.payload, signal.until}));
      if (!offered && offered.error().code == ErrorCode::invalid) continue;  // the child's schema refuses it
      CAIRN_TRY(Advance next, std::move(offered));
      const auto& left = next.after.signals;
      const bool unused =
          std::any_of(left.begin(), left.end(), [&](const BufferedSignal& s) { return s.id == signal.id; });
      if (unused && next.after.status == child.snapshot.status) continue;
      std::erase_if(instances_.at(root_).snapshot.signals, [&](const BufferedSignal& s) { return s.id == signal.id; });
      std::erase_if(timers_, [&](const Timer& timer) { return signal.until && timer.token == signal.token; });
      CAIRN_TRY_VOID(take(id, std::move(next)));
      return true;
    }
  }
  return false;
}

std::vector<const Rehearsal::Instance*> Rehearsal::suspended_children() const {
  std::vector<const Instance*> found;
  for (const InstanceId& id : order_) {
    const Instance& instance = instances_.at(id);
    if (id != root_ && instance.snapshot.status == Status::suspended) found.push_back(&instance);
  }
  return found;
}

std::vector<Rehearsal::Kept> Rehearsal::kept_signals() const {
  std::vector<Kept> found;
  for (const InstanceId& id : order_) {
    for (const BufferedSignal& signal : instances_.at(id).snapshot.signals) {
      found.push_back({signal.id, signal.name, signal.key});
    }
  }
  return found;
}

std::optional<Timestamp> Rehearsal::next_due() const {
  std::optional<Timestamp> due;
  for (const Timer& timer : timers_) due = due ? std::min(*due, timer.until) : timer.until;
  for (const PendingRun& run : runs_) {
    for (const auto& at : {run.again_at, run.overdue_at}) {
      if (at) due = due ? std::min(*due, *at) : *at;
    }
  }
  return due;
}

std::size_t Rehearsal::age_of(const InstanceId& id) const {
  return static_cast<std::size_t>(std::find(order_.begin(), order_.end(), id) - order_.begin());
}

void Rehearsal::move_clock(Timestamp to) { now_ = std::max(now_, to); }

Result<bool> Rehearsal::fire_next(std::optional<Timestamp> until) {
  const auto due = next_due();
  if (!due || (until && *due > *until)) return false;
  move_clock(*due);
  const Timer* timer = nullptr;
  PendingRun* retry = nullptr;
  // The order is that of a server: the timers of an instance in the order they were set, older instances first.
  const auto before = [&](const auto& a, const auto& b) {
    return std::pair(age_of(a.instance), a.order) < std::pair(age_of(b.instance), b.order);
  };
  for (const Timer& candidate : timers_) {
    if (candidate.until == *due && (!timer || before(candidate, *timer))) timer = &candidate;
  }
  for (PendingRun& candidate : runs_) {
    const bool is_due = candidate.again_at == due || candidate.overdue_at == due;
    if (is_due && (!retry || candidate.order < retry->order)) retry = &candidate;
  }
  if (retry && (!timer || before(*retry, *timer))) {
    if (retry->again_at) {
      begin_attempt(*retry);
    } else {
      attempt(*retry, {{}, {}, call_timeout(*retry->intent.timeout, retry->attempt)});
    }
  } else {
    const Timer fired = *timer;
    std::erase_if(timers_, [&](const Timer& candidate) { return candidate.token == fired.token; });
    CAIRN_TRY_VOID(deliver({fired.instance, TimerFired{fired.token, {}}}));
  }
  CAIRN_TRY_VOID(run_until_waiting());
  return true;
}

}  // namespace cairn
