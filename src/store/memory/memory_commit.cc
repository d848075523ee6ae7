#include <algorithm>
#include <iterator>

#include "store/audit_chain.h"
#include "store/lease_order.h"
#include "store/memory/memory_store.h"
#include "store/projection.h"
#include "store/report_dead_letter.h"

namespace cairn {

Result<std::vector<CommitOutcome>> MemoryStore::commit(std::span<const Unit> units) {
  std::vector<CommitOutcome> outcomes;
  Wakeup wakeup;
  {
    const std::lock_guard lock(mutex_);
    for (const Unit& unit : units) {
      if (auto refused = refuse(unit)) {
        outcomes.push_back(std::move(*refused));
        continue;
      }
      CommitOutcome outcome;
      apply(unit, outcome, wakeup);
      outcomes.push_back(std::move(outcome));
    }
  }
  tell(wakeup);
  return outcomes;
}

// Checks everything before anything is written, so that a refused unit leaves no trace.
std::optional<CommitOutcome> MemoryStore::refuse(const Unit& unit) const {
  if (const auto error = contradiction(unit)) {
    CommitOutcome outcome = outcome_of(CommitOutcome::Kind::failed);
    outcome.error = *error;
    return outcome;
  }
  if (unit.key) {
    const auto known = keys_.find({unit.key->scope, unit.key->key});
    if (known != keys_.end()) {
      CommitOutcome outcome = outcome_of(CommitOutcome::Kind::duplicate_key);
      outcome.answer = known->second.answer.answer;
      outcome.same_request = known->second.answer.request_hash == unit.key->request_hash;
      return outcome;
    }
  }
  if (unit.inbox) {
    const auto instance = instances_.find(unit.inbox->instance.value);
    if (instance != instances_.end() && instance->second.inbox.contains(unit.inbox->signal)) {
      return outcome_of(CommitOutcome::Kind::duplicate_signal);
    }
  }
  if (unit.message && !messages_.contains(*unit.message)) return outcome_of(CommitOutcome::Kind::stale);
  if (unit.timer) {
    const auto instance = instances_.find(unit.timer->instance.value);
    if (instance == instances_.end() ||
        !timers_.contains({unit.timer->due, instance->second.number, unit.timer->token})) {
      return outcome_of(CommitOutcome::Kind::stale);
    }
  }
  if (unit.run) {
    const auto run = runs_.find(unit.run->run.value);
    if (run == runs_.end() || run->second.row.status != RunStatus::leased || run->second.row.fence != unit.run->fence) {
      return outcome_of(CommitOutcome::Kind::stale);
    }
  }
  if (unit.task) {
    const auto task = tasks_.find(unit.task->task.value);
    if (task == tasks_.end() || task->second.row.state_version != unit.task->state_version ||
        (task->second.row.status != TaskStatus::open && task->second.row.status != TaskStatus::assigned)) {
      return outcome_of(CommitOutcome::Kind::stale);
    }
  }
  std::set<std::string> seen;
  for (const Advance& advance : unit.advances) {
    if (advance.outcome == Advance::Outcome::stale || !seen.insert(advance.after.instance.value).second) continue;
    const auto instance = instances_.find(advance.after.instance.value);
    const std::uint64_t state_version = instance == instances_.end() ? 0 : instance->second.snapshot.state_version;
    if (state_version != advance.from_state_version) return outcome_of(CommitOutcome::Kind::stale);
    // Another start is another instance, which was given the id of one that is gone.
    if (state_version != 0 && instance->second.snapshot.started_at != advance.after.started_at) {
      return outcome_of(CommitOutcome::Kind::stale);
    }
    if (state_version != 0 && is_final(instance->second.snapshot.status)) {
      CommitOutcome outcome = outcome_of(CommitOutcome::Kind::failed);
      outcome.error = {ErrorCode::conflict, "instance " + advance.after.instance.value + " has ended"};
      return outcome;
    }
  }
  return std::nullopt;
}

void MemoryStore::apply(const Unit& unit, CommitOutcome& outcome, Wakeup& wakeup) {
  for (const AuditRow& row : unit.audit) {
    audit_.push_back(chained(row, audit_.empty() ? std::nullopt : std::optional(audit_.back())));
  }
  if (unit.run) {
    const InstanceId instance = instance_of_run(unit);
    if (const auto event = event_of(*unit.run, instance, events_)) write_event(instance, *event, wakeup);
  }
  for (const Advance& advance : unit.advances) {
    if (advance.outcome == Advance::Outcome::applied) apply_advance(advance, unit, outcome, wakeup);
  }
  if (keeps_heads_) keep_text(unit);
  std::set<std::string> touched;
  if (unit.message) {
    const auto message = messages_.find(*unit.message);
    // Refused, or a repeat: no commit of the instance takes the next kept signal.
    if (message != messages_.end() && unit.advances.empty() && message->second.kind == Message::Kind::signal) {
      touched.insert(message->second.target.value);
    }
    messages_.erase(*unit.message);
    held_messages_.erase(*unit.message);
  }
  if (unit.timer) {
    const TimerKey key{unit.timer->due, instances_.at(unit.timer->instance.value).number, unit.timer->token};
    timers_.erase(key);
    held_timers_.erase(key);
  }
  if (unit.run) end_run(*unit.run, wakeup);
  if (unit.key) keys_[{unit.key->scope, unit.key->key}] = {{unit.key->request_hash, unit.key->answer}, now()};
  if (unit.inbox) {
    const auto instance = instances_.find(unit.inbox->instance.value);
    if (instance != instances_.end()) instance->second.inbox.insert(unit.inbox->signal);
  }
  for (const Message& message : unit.messages) send(message, wakeup);
  for (const CorrelatedSignal& signal : unit.signals) route(signal, wakeup);
  for (const OutboxEvent& incident : unit.incidents) {
    if (const auto event = entry_of(incident, events_)) write_event(instance_of(incident), *event, wakeup);
  }
  for (const DeadLetter& letter : unit.dead_letters) add_dead_letter(letter, wakeup);
  for (const Advance& advance : unit.advances) {
    if (advance.outcome == Advance::Outcome::applied) touched.insert(advance.after.instance.value);
  }
  for (const std::string& id : touched) {
    if (const auto instance = instances_.find(id); instance != instances_.end()) claim_kept(instance->second, wakeup);
  }
}

void MemoryStore::apply_advance(const Advance& advance, const Unit& unit, CommitOutcome& outcome, Wakeup& wakeup) {
  const std::string& id = advance.after.instance.value;
  const bool is_new = !instances_.contains(id);
  Instance& instance = instances_[id];
  if (is_new) {
    instance.number = ++last_number_;
    instance_order_[instance.number] = id;
  }
  instance.snapshot = advance.after;
  instance.row = project_instance(advance.after);

  open_waits(instance, advance, wakeup);
  change_tasks(advance, unit.actor);
  const Timestamp at = now();
  for (const RunIntent& intent : advance.runs) {
    RunRow row = project_run(intent, advance.after.instance, at);
    for (const auto& [run, key] : unit.limit_keys) {
      if (run == row.id) row.limit_key = key;
    }
    insert_run(std::move(row), unit.lease, outcome, wakeup);
  }
  for (const RunId& run : advance.runs_cancelled) {
    const auto found = runs_.find(run.value);
    if (found != runs_.end() && !is_final(found->second.row.status)) {
      wakeup.runs |= limits_concurrency(found->second.row.type);
      cancel_run(found->second, unit.actor);
    }
  }
  drop_cancelled(advance, outcome);
  for (const OutboxEntry& event : events_of(advance, events_)) write_event(advance.after.instance, event, wakeup);
  for (const LogEntry& entry : advance.log) {
    HistoryRow row{++last_number_, advance.after.state_version, entry};
    row.entry.at = whole_ms(entry.at);
    instance.history.push_back(std::move(row));
  }
  if (is_final(advance.after.status)) wakeup.ended.push_back(advance.after.instance);
}

void MemoryStore::open_waits(Instance& instance, const Advance& advance, Wakeup& wakeup) {
  for (const WaitToken& token : advance.waits_closed) instance.waits.erase(token);
  // A finished instance waits for nothing, whatever the advance lists. No token may stay active.
  if (is_final(advance.after.status)) {
    instance.waits.clear();
    return;
  }
  for (const Wait& wait : advance.waits_opened) {
    const Wait row = project_wait(wait);
    instance.waits[wait.token] = row;
    if (wait.kind == WaitKind::timer && row.until) {
      timers_[{*row.until, instance.number, wait.token}] = {advance.after.instance, wait.token, *row.until};
      if (!wakeup.due || *row.until < *wakeup.due) wakeup.due = row.until;
    }
  }
}

void MemoryStore::change_tasks(const Advance& advance, const std::string& actor) {
  const Timestamp at = now();
  for (const TaskOpened& opened : advance.tasks_opened) {
    Task task;
    task.number = ++last_number_;
    task.row = project_task(opened, advance.after.instance, at);
    task.events.push_back({opened.id, TaskEvent::Kind::created, at, actor, Json()});
    if (!opened.assignee.empty()) {
      task.events.push_back(
          {opened.id, TaskEvent::Kind::assigned, at, actor, Json::object({{"assignee", opened.assignee}})});
    }
    tasks_[opened.id.value] = std::move(task);
  }
  for (const TaskClosed& closed : advance.tasks_closed) {
    const auto found = tasks_.find(closed.id.value);
    if (found == tasks_.end()) continue;
    TaskRow& row = found->second.row;
    if (row.status != TaskStatus::open && row.status != TaskStatus::assigned) continue;
    row.status = closed.status;
    row.changed_at = at;
    ++row.state_version;
    if (closed.status == TaskStatus::completed) {
      row.completed_by = closed.by;
      row.completed_at = at;
      row.completion = closed.payload;
    }
    found->second.events.push_back(
        {closed.id, event_of(closed.status), at, closed.by.empty() ? actor : closed.by, Json()});
  }
}

void MemoryStore::send(Message message, Wakeup& wakeup) {
  if (!instances_.contains(message.target.value)) {
    DeadLetter letter;
    letter.instance = message.target;
    letter.kind = "message";
    letter.envelope = Json::object({{"kind", to_string(message.kind)}, {"body", message.body}});
    letter.reason = "there is no such instance";
    letter.node = made_by_store;  // found during routing, not by a particular node
    add_dead_letter(letter, wakeup);
    return;
  }
  message.id = ++last_number_;
  message.at = now();
  messages_.emplace(message.id, std::move(message));
  wakeup.messages = true;
}

SignalOutcome MemoryStore::route(const CorrelatedSignal& signal, Wakeup& wakeup) {
  SignalOutcome outcome;
  for (const auto& [number, id] : instance_order_) {
    const Instance& instance = instances_.at(id);
    if (instance.inbox.contains(signal.id)) continue;  // already received
    for (const auto& [token, wait] : instance.waits) {
      if (wait.kind == WaitKind::signal && wait.name == signal.name && takes(wait.key, signal.key)) {
        outcome.delivered.push_back(instance.row.id);
        break;
      }
    }
  }
  for (const InstanceId& id : outcome.delivered) {
    send(message_of(signal, id, outcome.delivered.size() == 1), wakeup);
  }
  if (outcome.delivered.empty()) {
    outcome.kept = true;
    const Timestamp at = now();
    const std::optional<Timestamp> until = signal.ttl ? std::optional(after(at, *signal.ttl)) : std::nullopt;
    kept_[++last_number_] = {signal, at, until};
    if (until && (!wakeup.due || *until < *wakeup.due)) wakeup.due = until;
  }
  return outcome;
}

// A kept signal that an instance now waits for becomes a message to it. Only one is taken at a time: its delivery
// commits again and takes the next. One instance therefore cannot drain signals that others wait for.
void MemoryStore::claim_kept(Instance& instance, Wakeup& wakeup) {
  if (kept_.empty() || is_final(instance.row.status)) return;
  for (const auto& [id, message] : messages_) {
    if (message.target == instance.row.id && message.kind == Message::Kind::signal) return;
  }
  const Timestamp at = now();
  for (const Wait& wait : instance.snapshot.waits) {
    if (wait.kind != WaitKind::signal) continue;
    for (auto kept = kept_.begin(); kept != kept_.end(); ++kept) {
      if (kept->second.expires_at && *kept->second.expires_at <= at) continue;
      if (kept->second.signal.name != wait.name || !takes(wait.key, kept->second.signal.key)) continue;
      if (instance.inbox.contains(kept->second.signal.id)) continue;
      send(message_of(kept->second.signal, instance.row.id, true), wakeup);
      messages_.at(last_number_).at = kept->second.at;  // its time to live counts from then
      kept_.erase(kept);
      return;
    }
  }
}

Result<SignalOutcome> MemoryStore::record_signal(const CorrelatedSignal& signal) {
  SignalOutcome outcome;
  Wakeup wakeup;
  {
    const std::lock_guard lock(mutex_);
    if (signal.remember && !keys_.emplace(std::pair{std::string("signal"), signal.id}, Key{{}, now()}).second) {
      outcome.duplicate = true;
      return outcome;
    }
    outcome = route(signal, wakeup);
    if (outcome.kept) {
      const auto same = [&signal](const auto& kept) {
        return kept.second.signal.name == signal.name && kept.second.signal.key == signal.key;
      };
      const bool key_full =
          signal.kept_per_key_max > 0 &&
          static_cast<std::size_t>(std::count_if(kept_.begin(), kept_.end(), same)) > signal.kept_per_key_max;
      const bool full = signal.kept_total_max > 0 && kept_.size() > signal.kept_total_max;
      if (key_full || full) {
        kept_.erase(std::prev(kept_.end()));
        if (signal.remember) keys_.erase({"signal", signal.id});
        return too_many_kept(signal, key_full);
      }
    }
  }
  tell(wakeup);
  return outcome;
}

}  // namespace cairn
