#include "chronicle.h"

#include <algorithm>

#include "store/projection.h"

namespace cairn::sim {

void Chronicle::committed(const Unit& unit, const CommitOutcome& outcome, Timestamp now) {
  ++commits_;
  if (unit.message && !messages_.insert(*unit.message).second) {
    broken("I-10 signals", "message " + std::to_string(*unit.message) + " was delivered twice");
  }
  if (unit.timer) {
    if (unit.timer->due > now) {
      broken("I-09 timers", "the timer of instance " + unit.timer->instance.value + " fired " +
                                format_duration(between(now, unit.timer->due)) + " early");
    }
    const auto instance = instances_.find(unit.timer->instance.value);
    const bool acts = std::any_of(unit.advances.begin(), unit.advances.end(),
                                  [](const Advance& advance) { return advance.outcome == Advance::Outcome::applied; });
    if (acts && instance != instances_.end() && !instance->second.open.contains(unit.timer->token.value)) {
      broken("I-06 stale tokens", "a timer with a token that is not open moved instance " + unit.timer->instance.value);
    }
  }
  if (unit.inbox && !inbox_.insert({unit.inbox->instance.value, unit.inbox->signal}).second) {
    broken("I-10 signals",
           "signal " + unit.inbox->signal + " was applied twice to instance " + unit.inbox->instance.value);
  }
  if (unit.inbox) signals_.insert(unit.inbox->signal);
  if (unit.key && !keys_.insert({unit.key->scope, unit.key->key}).second) {
    broken("I-04 idempotency", "the key " + unit.key->key + " of " + unit.key->scope + " was taken twice");
  }
  if (unit.run) {
    const auto found = runs_.find(unit.run->run.value);
    if (found == runs_.end()) {
      broken("I-18 effects", "run " + unit.run->run.value + " ended and was never made");
    } else {
      Run& run = found->second;
      if (run.status != RunStatus::leased || run.fence != unit.run->fence) {
        broken("I-15 leases", "run " + unit.run->run.value + " was ended with fence " +
                                  std::to_string(unit.run->fence) + "; it is " + to_string(run.status) +
                                  " with fence " + std::to_string(run.fence));
      }
      run.status = unit.run->status;
      run.lease_until.reset();
    }
  }
  for (const Advance& advance : unit.advances) {
    if (advance.outcome == Advance::Outcome::applied) advanced(advance, unit);
  }
  for (const RunRow& run : outcome.leased) leased(run, now);
}

void Chronicle::advanced(const Advance& advance, const Unit&) {
  const Snapshot& after = advance.after;
  const std::string& id = after.instance.value;
  const std::string subject = "instance " + id;
  const bool is_new = !instances_.contains(id);
  Instance& instance = instances_[id];
  if (instance.state_version != advance.from_state_version || after.state_version != advance.from_state_version + 1) {
    broken("I-01 versions", subject + " went from " + std::to_string(advance.from_state_version) + " to " +
                                std::to_string(after.state_version) + " and was at " +
                                std::to_string(instance.state_version));
  }
  if (!is_new && is_final(instance.status)) {
    broken("I-22 terminal is final", subject + " was " + to_string(instance.status) + " and moved");
  }
  if (!is_new && instance.program != after.program) {
    broken("I-24 definition", subject + " changed its definition to version " + after.program.version);
  }
  waits(instance, advance);
  instance.state_version = after.state_version;
  instance.status = after.status;
  instance.program = after.program;
  if (after.parent) instance.parent = after.parent->instance;
  tasks_and_runs(advance);
}

void Chronicle::waits(Instance& instance, const Advance& advance) {
  const std::string subject = "instance " + advance.after.instance.value;
  for (const Wait& wait : advance.waits_opened) {
    if (!tokens_.insert(wait.token.value).second) {
      broken("I-05 waits", subject + " opened a wait of step " + wait.step + " with a token that was used before");
    }
    instance.open.insert(wait.token.value);
  }
  for (const WaitToken& token : advance.waits_closed) {
    if (instance.open.erase(token.value) != 1) broken("I-05 waits", subject + " closed a wait that was not open");
  }
  if (is_final(advance.after.status)) instance.open.clear();
  std::set<std::string> shown;
  for (const Wait& wait : advance.after.waits) {
    if (has_row(wait)) shown.insert(wait.token.value);
  }
  for (const BufferedSignal& kept : advance.after.signals) {
    if (kept.until && !is_final(advance.after.status)) shown.insert(kept.token.value);
  }
  if (shown != instance.open) broken("I-05 waits", subject + " waits for something else than it opened and closed");
}

void Chronicle::tasks_and_runs(const Advance& advance) {
  const std::string subject = "instance " + advance.after.instance.value;
  for (const TaskOpened& opened : advance.tasks_opened) {
    Task task{advance.after.instance, TaskStatus::open, "", Json(), opened.exclude};
    if (!tasks_.emplace(opened.id.value, std::move(task)).second) {
      broken("I-13 task events", subject + " opened task " + opened.id.value + " twice");
    }
  }
  for (const TaskClosed& closed : advance.tasks_closed) {
    const auto found = tasks_.find(closed.id.value);
    if (found == tasks_.end() || found->second.status != TaskStatus::open) {
      broken("I-13 task events", subject + " closed task " + closed.id.value + " that was not open");
      continue;
    }
    Task& task = found->second;
    task.status = closed.status;
    task.by = closed.by;
    task.payload = closed.payload;
    // The first one is written in the definition; the others depend on the state at the completion.
    if (closed.status == TaskStatus::completed && !task.exclude.empty() && task.exclude.front() == closed.by) {
      broken("I-14 four eyes", "task " + closed.id.value + " was completed by " + closed.by + ", who is excluded");
    }
  }
  for (const RunIntent& intent : advance.runs) {
    const auto [holder, fresh] = run_keys_.emplace(intent.idempotency_key, intent.id.value);
    // A retry by an operator keeps the key, and the run before has failed.
    const auto before = runs_.find(holder->second);
    const bool retried = before != runs_.end() && before->second.status == RunStatus::failed;
    holder->second = intent.id.value;
    if (!fresh && !retried) {
      broken("I-17 effects", subject + " asks for an effect twice under the key " + intent.idempotency_key);
    }
    Run run;
    run.idempotency_key = intent.idempotency_key;
    run.instance = advance.after.instance;
    run.attempts_max = intent.attempts_max;
    if (!runs_.emplace(intent.id.value, std::move(run)).second) {
      broken("I-17 effects", subject + " made run " + intent.id.value + " twice");
    }
  }
  for (const RunId& cancelled : advance.runs_cancelled) {
    const auto found = runs_.find(cancelled.value);
    if (found != runs_.end() && !is_final(found->second.status)) found->second.status = RunStatus::cancelled;
  }
  for (const OutboxEvent& event : advance.outbox) {
    if (!outbox_.insert(event.id.value).second)
      broken("I-19 outbox", subject + " wrote event " + event.id.value + " twice");
  }
}

void Chronicle::submitted(const RunRow& row) {
  if (runs_.contains(row.id.value) || !run_keys_.emplace(row.idempotency_key, row.id.value).second) {
    broken("I-04 idempotency", "run " + row.id.value + " was made twice");
  }
  Run run;
  run.idempotency_key = row.idempotency_key;
  run.attempts_max = row.attempts_max;
  runs_.emplace(row.id.value, std::move(run));
}

void Chronicle::leased(const RunRow& row, Timestamp now) {
  if (const auto made = in_doubt_.find(row.id.value); made != in_doubt_.end() && !runs_.contains(row.id.value)) {
    submitted(made->second);
  }
  const auto found = runs_.find(row.id.value);
  if (found == runs_.end()) return broken("I-18 effects", "run " + row.id.value + " was leased and never made");
  Run& run = found->second;
  const std::string subject = "run " + row.id.value;
  if (is_final(run.status)) broken("I-15 leases", subject + " is " + to_string(run.status) + " and was leased");
  if (row.fence <= run.fence) broken("I-15 leases", subject + " was leased with a fence that is not greater");
  if (run.status == RunStatus::leased && run.lease_until && *run.lease_until > now) {
    broken("I-15 leases", subject + " was leased while another lease holds");
  }
  if (row.attempt > run.attempts_max) {
    broken("I-16 attempts",
           subject + " began attempt " + std::to_string(row.attempt) + " of " + std::to_string(run.attempts_max));
  }
  if (row.idempotency_key != run.idempotency_key) {
    broken("I-17 effects", subject + " has another idempotency key at attempt " + std::to_string(row.attempt));
  }
  if (row.attempt <= run.attempt) {
    broken("I-16 attempts", subject + " was leased again and that was not counted");
  }
  run.attempt = row.attempt;
  run.status = RunStatus::leased;
  run.fence = row.fence;
  run.lease_until = row.lease_until;
}

void Chronicle::run_changed(const RunChange& change, const RunChanged& answer, Timestamp) {
  const auto found = runs_.find(change.run.value);
  if (found == runs_.end() || answer.kind != RunChanged::Kind::done) return;
  Run& run = found->second;
  const bool needs_fence = change.kind != RunChange::Kind::cancel && change.kind != RunChange::Kind::remove;
  if (needs_fence && (run.status != RunStatus::leased || run.fence != change.fence)) {
    broken("I-15 leases", "run " + change.run.value + " was changed by a holder whose lease is over");
  }
  if (change.kind == RunChange::Kind::cancel) {
    if (is_final(run.status)) broken("I-15 leases", "run " + change.run.value + " had ended and was cancelled");
    run.status = RunStatus::cancelled;
  }
  if (change.kind == RunChange::Kind::retry || change.kind == RunChange::Kind::release) {
    run.status = RunStatus::pending;
    run.lease_until.reset();
    run.attempt = answer.row.attempt;  // a released run does not count as an attempt
  }
  if (change.kind == RunChange::Kind::heartbeat) run.lease_until = answer.row.lease_until;
}

bool Chronicle::resolve_doubt(const Unit& unit, Store& store, Timestamp now) {
  for (const Advance& advance : unit.advances) {
    if (advance.outcome != Advance::Outcome::applied) continue;
    // A request that was retried before the crash is in doubt twice but was written once.
    const auto known = instances_.find(advance.after.instance.value);
    if (known != instances_.end() && known->second.state_version >= advance.after.state_version) continue;
    // Nothing less will do: two timers of one instance make the same state version, and a signal gives its id to two.
    const auto snapshot = store.find_snapshot(advance.after.instance);
    if (!snapshot || !*snapshot || **snapshot != advance.after) continue;
    committed(unit, {}, now);
    return true;
  }
  if (!unit.advances.empty() || !unit.run) return false;
  // Without an advance only the end of a run tells; a message that was removed does not come again.
  const auto known = runs_.find(unit.run->run.value);
  if (known != runs_.end() && is_final(known->second.status)) return false;
  const auto run = store.find_run(unit.run->run);
  if (!run || !*run || !is_final((**run).status)) return false;
  committed(unit, {}, now);
  return true;
}

void Chronicle::compare(Store& store, const char* lost) {
  for (auto& [id, instance] : instances_) {
    if (instance.removed) continue;
    const auto row = store.find_instance({id});
    if (!row) return broken("I-02 snapshot reads", "instance " + id + ": " + row.error().message);
    if (!*row) {
      if (!is_final(instance.status)) {
        broken("I-25 retention", "instance " + id + " is " + to_string(instance.status) + " and is gone");
      }
      if (instance.parent && !instances_.at(instance.parent->value).removed) {
        const auto parent = store.find_instance(*instance.parent);
        if (parent && *parent) broken("I-25 retention", "instance " + id + " is gone and its parent is there");
      }
      instance.removed = true;
      continue;
    }
    if ((**row).state_version != instance.state_version) {
      broken(lost, "instance " + id + " is at state version " + std::to_string((**row).state_version) +
                       ", committed was " + std::to_string(instance.state_version));
    }
  }
  for (auto& [id, instance] : instances_) {
    if (!instance.removed && instance.parent && instances_.contains(instance.parent->value) &&
        instances_.at(instance.parent->value).removed) {
      broken("I-25 retention", "instance " + id + " is there and its parent is gone");
    }
  }
  for (auto& [id, run] : runs_) {
    if (run.instance && instances_.contains(run.instance->value) && instances_.at(run.instance->value).removed)
      continue;
    const auto row = store.find_run({id});
    if (!row || !*row) {
      broken(lost, "run " + id + " is gone");
      continue;
    }
    const RunRow& now = **row;
    if (now.fence < run.fence || (is_final(run.status) && now.status != run.status)) {
      broken(lost, "run " + id + " is " + to_string(now.status) + " with fence " + std::to_string(now.fence) +
                       ", committed was " + to_string(run.status) + " with " + std::to_string(run.fence));
    }
    // A lease or a cancellation whose answer died with its node.
    run.fence = now.fence;
    run.attempt = now.attempt;
    run.status = now.status;
    run.lease_until = now.lease_until;
  }
}

}  // namespace cairn::sim
