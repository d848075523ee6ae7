#include <algorithm>

#include "store/memory/memory_store.h"
#include "store/projection.h"

namespace cairn {

void MemoryStore::insert_run(RunRow row, const std::optional<RunLease>& lease, CommitOutcome& outcome, Wakeup& wakeup) {
  const Timestamp at = now();
  Run run;
  run.number = ++last_number_;
  run.events.push_back({row.id, "created", at, 0, "", Json()});
  if (lease && std::find(lease->types.begin(), lease->types.end(), row.type) != lease->types.end()) {
    row.status = RunStatus::leased;
    row.leased_by = lease->owner;
    row.lease_until = after(at, lease->length);
    row.attempt = row.leases = 1;
    row.fence = 1;
    run.events.push_back({row.id, "leased", at, 1, lease->owner, Json()});
    outcome.leased.push_back(row);
    if (!wakeup.due || *row.lease_until < *wakeup.due) wakeup.due = row.lease_until;
  } else {
    wakeup.runs = true;
  }
  if (!row.idempotency_key.empty()) run_keys_[row.idempotency_key] = row.id.value;
  run.row = std::move(row);
  runs_[run.row.id.value] = std::move(run);
}

void MemoryStore::end_run(const RunEnd& end, Wakeup&) {
  Run& run = runs_.at(end.run.value);
  RunRow& row = run.row;
  row.status = end.status;
  row.result = end.result;
  row.error = end.error;
  if (end.status == RunStatus::failed) row.last_error = error_line(end.error);
  row.lease_until.reset();
  row.leased_by.clear();
  row.updated_at = now();
  run.events.push_back({row.id, to_string(end.status), row.updated_at, row.attempt, end.actor,
                        end.status == RunStatus::failed ? end.error : Json()});
}

void MemoryStore::cancel_run(Run& run, const std::string& actor) {
  run.row.status = RunStatus::cancelled;
  run.row.updated_at = now();
  run.events.push_back({run.row.id, "cancelled", run.row.updated_at, run.row.attempt, actor, Json()});
}

bool MemoryStore::leasable(const RunRow& run, Timestamp at) const {
  if (run.deleted_at || run.run_at > at || run.attempt >= run.attempts_max) return false;
  return run.status == RunStatus::pending || (run.status == RunStatus::leased && run.lease_until <= at);
}

Result<std::pair<RunRow, bool>> MemoryStore::submit_run(const RunRow& given) {
  Wakeup wakeup;
  std::pair<RunRow, bool> answer;
  {
    const std::lock_guard lock(mutex_);
    const auto known = run_keys_.find(given.idempotency_key);
    if (!given.idempotency_key.empty() && known != run_keys_.end()) {
      return std::pair(runs_.at(known->second).row, false);
    }
    if (runs_.contains(given.id.value)) return std::pair(runs_.at(given.id.value).row, false);
    RunRow row = given;
    row.status = RunStatus::pending;
    row.created_at = row.updated_at = now();
    row.run_at = std::max(whole_ms_up(row.run_at), row.created_at);
    if (row.run_at > row.created_at) wakeup.due = row.run_at;
    CommitOutcome ignored;
    insert_run(row, std::nullopt, ignored, wakeup);
    answer = {std::move(row), true};
  }
  tell(wakeup);
  return answer;
}

Result<std::vector<RunRow>> MemoryStore::lease_runs(const LeaseRequest& request) {
  Wakeup wakeup;
  std::vector<RunRow> leased;
  {
    const std::lock_guard lock(mutex_);
    const Timestamp at = now();
    std::vector<Run*> ready;
    for (auto& [id, run] : runs_) {
      if (leasable(run.row, at) && asks_for(request, run.row.type)) ready.push_back(&run);
    }
    std::sort(ready.begin(), ready.end(), [](const Run* a, const Run* b) {
      return std::tuple(-a->row.priority, a->row.run_at, a->number) <
             std::tuple(-b->row.priority, b->row.run_at, b->number);
    });
    if (ready.size() > request.max) ready.resize(request.max);
    for (Run* run : ready) {
      RunRow& row = run->row;
      row.status = RunStatus::leased;
      row.leased_by = request.worker;
      row.lease_until = after(at, request.length);
      ++row.attempt;
      ++row.leases;
      ++row.fence;
      row.updated_at = at;
      run->events.push_back({row.id, "leased", at, row.attempt, request.worker, Json()});
      if (!wakeup.due || *row.lease_until < *wakeup.due) wakeup.due = row.lease_until;
      leased.push_back(row);
    }
  }
  tell(wakeup);
  return leased;
}

Result<RunChanged> MemoryStore::change_run(const RunChange& change) {
  Wakeup wakeup;
  RunChanged answer;
  {
    std::unique_lock lock(mutex_);
    const Timestamp at = now();
    const auto found = runs_.find(change.run.value);
    if (found == runs_.end()) return RunChanged{RunChanged::Kind::not_found, {}};
    Run& run = found->second;
    RunRow& row = run.row;
    const auto say = [&](RunChanged::Kind kind) { return RunChanged{kind, row}; };
    if (change.kind == RunChange::Kind::remove) {
      // A live run would vanish under its worker: cancel it first.
      if (row.status == RunStatus::leased) return say(RunChanged::Kind::lease_lost);
      if (!row.deleted_at) {
        row.deleted_at = at;
        row.delete_reason = change.reason;
        row.updated_at = at;
        run.events.push_back({row.id, "deleted", at, row.attempt, change.actor, Json(change.reason)});
      }
      return say(RunChanged::Kind::done);
    }
    if (change.kind == RunChange::Kind::cancel) {
      if (is_final(row.status)) return say(RunChanged::Kind::finished);
      cancel_run(run, change.actor);
      if (const auto event = event_of_cancel(row, events_)) {
        write_event(row.instance.value_or(InstanceId{}), *event, wakeup);
      }
      const RunChanged cancelled = say(RunChanged::Kind::done);
      lock.unlock();
      tell(wakeup);
      return cancelled;
    }
    if (is_final(row.status)) {
      // The cancelled run's holder learns of it here and clears its lease.
      if (row.status == RunStatus::cancelled && row.fence == change.fence) {
        row.lease_until.reset();
        row.leased_by.clear();
      }
      return say(RunChanged::Kind::finished);
    }
    if (row.status != RunStatus::leased || row.fence != change.fence) {
      return say(RunChanged::Kind::lease_lost);
    }
    switch (change.kind) {
      case RunChange::Kind::heartbeat:
        row.lease_until = after(at, change.length);
        wakeup.due = row.lease_until;
        break;
      case RunChange::Kind::retry:
        if (row.attempt >= row.attempts_max) return say(RunChanged::Kind::exhausted);
        row.status = RunStatus::pending;
        row.run_at = after(at, change.length);
        row.error = change.error;
        row.last_error = error_line(change.error);
        row.lease_until.reset();
        row.leased_by.clear();
        run.events.push_back({row.id, "retried", at, row.attempt, change.actor, change.error});
        wakeup.due = row.run_at;
        break;
      case RunChange::Kind::release:
        row.status = RunStatus::pending;
        --row.attempt;
        row.lease_until.reset();
        row.leased_by.clear();
        run.events.push_back({row.id, "released", at, row.attempt, change.actor, Json()});
        wakeup.runs = true;
        break;
      case RunChange::Kind::cancel:
      case RunChange::Kind::remove: break;
    }
    row.updated_at = at;
    answer = say(RunChanged::Kind::done);
  }
  tell(wakeup);
  return answer;
}

Result<std::vector<RunRow>> MemoryStore::exhausted_runs(std::size_t max) {
  const std::lock_guard lock(mutex_);
  const Timestamp at = now();
  std::vector<RunRow> found;
  for (const auto& [id, run] : runs_) {
    if (found.size() == max) break;
    if (run.row.status == RunStatus::leased && run.row.lease_until <= at && run.row.attempt >= run.row.attempts_max) {
      found.push_back(run.row);
    }
  }
  return found;
}

Result<std::optional<RunRow>> MemoryStore::find_run(const RunId& id) {
  const std::lock_guard lock(mutex_);
  const auto found = runs_.find(id.value);
  if (found == runs_.end()) return std::optional<RunRow>();
  return std::optional(found->second.row);
}

Result<std::vector<RunEvent>> MemoryStore::run_events(const RunId& id) {
  const std::lock_guard lock(mutex_);
  const auto found = runs_.find(id.value);
  return found == runs_.end() ? std::vector<RunEvent>() : found->second.events;
}

}  // namespace cairn
