#include <algorithm>
#include <utility>

#include "store/lease_holder.h"
#include "store/memory/memory_store.h"
#include "store/projection.h"
#include "store/run_change.h"

namespace cairn {

void MemoryStore::run_event(Run& run, std::string_view kind, int attempt, std::string_view actor, const Json& details) {
  if (run_events_) run.events.push_back({run.row.id, std::string(kind), now(), attempt, std::string(actor), details});
}

void MemoryStore::insert_run(RunRow row, const std::optional<RunLease>& lease, CommitOutcome& outcome, Wakeup& wakeup) {
  const Timestamp at = now();
  Run run;
  run.number = ++last_number_;
  run.row = std::move(row);
  run_event(run, "created", 0, std::exchange(run.row.created_by, {}), Json());
  const auto rule = run_types_.find(run.row.type);
  const bool ruled = rule != run_types_.end();
  // If the type is paused or has limits, the run must go through lease_runs, which applies them.
  const bool leased = lease && !(ruled && (rule->second.paused || is_limited(rule->second))) &&
                      std::find(lease->types.begin(), lease->types.end(), run.row.type) != lease->types.end();
  if (leased) {
    run.row.status = RunStatus::leased;
    run.row.leased_by = lease->owner;
    run.row.lease_until = after(at, ruled && rule->second.lease ? *rule->second.lease : lease->length);
    run.row.attempt = run.row.leases = 1;
    run.row.fence = fence_step();
    if (ruled) apply_overrides(rule->second, run.row);
    run_event(run, "leased", 1, lease->owner, Json());
    outcome.leased.push_back(run.row);
    begin_attempt(run, at, wakeup);
  } else {
    wakeup.runs = true;
  }
  if (!run.row.instance && !run.row.idempotency_key.empty()) run_keys_[run.row.idempotency_key] = run.row.id.value;
  runs_[run.row.id.value] = std::move(run);
}

void MemoryStore::end_run(const RunEnd& end, Wakeup& wakeup) {
  Run& run = runs_.at(end.run.value);
  wakeup.runs |= limits_concurrency(run.row.type);
  RunRow& row = run.row;
  row.status = end.status;
  row.result = end.result;
  row.error = end.error;
  if (end.status == RunStatus::failed) row.last_error = error_line(end.error);
  row.lease_until.reset();
  row.leased_by.clear();
  row.updated_at = now();
  run_event(run, to_string(end.status), row.attempt, end.actor, end.status == RunStatus::failed ? end.error : Json());
}

void MemoryStore::cancel_run(Run& run, const std::string& actor) {
  run.row.status = RunStatus::cancelled;
  run.row.updated_at = now();
  run_event(run, "cancelled", run.row.attempt, actor, Json());
}

bool MemoryStore::leasable(const Run& run, Timestamp at) const {
  const RunRow& row = run.row;
  if (row.deleted_at || row.run_at > at || row.attempt >= row.attempts_max) return false;
  if (row.status == RunStatus::pending) return true;
  return row.status == RunStatus::leased && row.lease_until <= at && !is_overdue(run, at);
}

bool MemoryStore::is_overdue(const Run& run, Timestamp at) {
  return run.row.status == RunStatus::leased && run.attempt_until && *run.attempt_until <= at;
}

void MemoryStore::begin_attempt(Run& run, Timestamp at, Wakeup& wakeup) {
  run.attempt_until.reset();
  if (run.row.timeout) run.attempt_until = after(at, *run.row.timeout);
  const Timestamp due = attention_at(run.row, at);
  if (!wakeup.due || due < *wakeup.due) wakeup.due = due;
}

Result<std::pair<RunRow, bool>> MemoryStore::submit_run(const RunRow& given) {
  RunRow run = given;
  CAIRN_TRY(const auto fresh, submit_runs(std::span(&run, 1)));
  return std::pair(std::move(run), fresh.front());
}

Result<std::vector<bool>> MemoryStore::submit_runs(std::span<RunRow> runs) {
  Wakeup wakeup;
  std::vector<bool> fresh(runs.size());
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      RunRow& run = runs[i];
      const auto known = run_keys_.find(run.idempotency_key);
      const bool by_key = !run.idempotency_key.empty() && known != run_keys_.end();
      if (const auto taken = runs_.find(by_key ? known->second : run.id.value); taken != runs_.end()) {
        run = taken->second.row;
        continue;
      }
      accept_run(run, now(), wakeup);
      CommitOutcome ignored;
      insert_run(run, std::nullopt, ignored, wakeup);
      fresh[i] = true;
    }
  }
  tell(wakeup);
  return fresh;
}

LeaseSlots MemoryStore::slots(Timestamp at, Wakeup& wakeup) {
  LeaseSlots slots;
  for (const auto& [type, rule] : run_types_) {
    if (!is_limited(rule)) continue;
    LeaseSlots::Use use;
    for (const auto& [id, run] : runs_) {
      const bool live = run.row.type == type && run.row.status == RunStatus::leased && run.row.lease_until > at;
      if (live) ++use.leased[run.row.limit_key];
    }
    auto& starts = run_starts_[type];
    std::erase_if(starts,
                  [at, window = rule.rate_window](const auto& start) { return after(start.first, window) <= at; });
    for (const auto& [started, key] : starts) {
      if (rule.rate && ++use.started[key] == *rule.rate) {
        // The window has room again when its oldest start leaves it.
        for (const auto& [oldest, same] : starts) {
          if (same != key) continue;
          const Timestamp free = after(oldest, rule.rate_window);
          if (!wakeup.due || free < *wakeup.due) wakeup.due = free;
          break;
        }
      }
    }
    slots.add(rule, std::move(use));
  }
  return slots;
}

bool MemoryStore::limits_concurrency(const std::string& type) const {
  const auto rule = run_types_.find(type);
  return rule != run_types_.end() && rule->second.concurrency.has_value();
}

Result<std::vector<RunRow>> MemoryStore::lease_runs(const LeaseRequest& request) {
  Wakeup wakeup;
  std::vector<RunRow> leased;
  {
    const std::lock_guard lock(mutex_);
    const Timestamp at = now();
    std::vector<LeaseCandidate> ready;
    std::map<std::int64_t, Run*> by_number;
    for (auto& [id, run] : runs_) {
      const auto line = line_of(request, run.row.type);
      if (!line || !leasable(run, at)) continue;
      const auto rule = run_types_.find(run.row.type);
      if (rule != run_types_.end() && rule->second.paused) continue;
      ready.push_back({run.number, run.row.type, run.row.limit_key, run.row.priority, run.row.run_at.unix_ms(), *line});
      by_number[run.number] = &run;
    }
    LeaseSlots free = slots(at, wakeup);
    std::size_t bytes = 0;
    for (const LeaseCandidate& one : choose(std::move(ready), request.max, free)) {
      if (bytes >= request.bytes_max) break;
      Run& run = *by_number.at(one.number);
      RunRow& row = run.row;
      const auto rule = run_types_.find(row.type);
      const bool ruled = rule != run_types_.end();
      row.status = RunStatus::leased;
      row.leased_by = request.worker;
      row.lease_until = after(at, ruled && rule->second.lease ? *rule->second.lease : request.length);
      ++row.attempt;
      ++row.leases;
      row.fence += fence_step();
      row.updated_at = at;
      if (ruled) apply_overrides(rule->second, row);
      if (ruled && rule->second.rate) run_starts_[row.type].emplace_back(at, row.limit_key);
      run_event(run, "leased", row.attempt, request.worker, Json());
      begin_attempt(run, at, wakeup);
      bytes += lease_bytes(request, row);
      leased.push_back(row);
    }
  }
  tell(wakeup);
  return leased;
}

Result<void> MemoryStore::put_run_type(const RunTypeRow& row) {
  {
    const std::lock_guard lock(mutex_);
    run_types_[row.type] = row;
  }
  // Runs that were paused or over a limit may be available now.
  Wakeup wakeup;
  wakeup.runs = true;
  tell(wakeup);
  return {};
}

Result<bool> MemoryStore::remove_run_type(const std::string& type) {
  bool removed = false;
  {
    const std::lock_guard lock(mutex_);
    removed = run_types_.erase(type) == 1;
    run_starts_.erase(type);
  }
  Wakeup wakeup;
  wakeup.runs = removed;
  tell(wakeup);
  return removed;
}

Result<std::vector<RunTypeRow>> MemoryStore::list_run_types() {
  const std::lock_guard lock(mutex_);
  std::vector<RunTypeRow> rows;
  for (const auto& [type, row] : run_types_) rows.push_back(row);
  return rows;
}

Result<RunChanged> MemoryStore::change_run(const RunChange& change) {
  Wakeup wakeup;
  RunChanged answer;
  {
    const std::lock_guard lock(mutex_);
    const Timestamp at = now();
    const auto found = runs_.find(change.run.value);
    if (found == runs_.end()) return RunChanged{RunChanged::Kind::not_found, {}};
    Run& run = found->second;
    RunRow& row = run.row;
    const auto say = [&](RunChanged::Kind kind) { return RunChanged{kind, row}; };
    if (row.status == RunStatus::leased && change.kind != RunChange::Kind::heartbeat) {
      wakeup.runs |= limits_concurrency(row.type);
    }
    if (clears_lease(change, row)) {
      row.lease_until.reset();
      row.leased_by.clear();
    }
    if (const auto kind = check_change(change, row); kind != RunChanged::Kind::done) return say(kind);
    switch (change.kind) {
      case RunChange::Kind::remove:
        if (row.deleted_at) return say(RunChanged::Kind::done);
        row.deleted_at = at;
        row.delete_reason = change.reason;
        run_event(run, "deleted", row.attempt, change.actor, Json(change.reason));
        break;
      case RunChange::Kind::cancel:
        cancel_run(run, change.actor);
        if (const auto event = event_of_cancel(row, events_)) {
          write_event(row.instance.value_or(InstanceId{}), *event, wakeup);
        }
        break;
      case RunChange::Kind::heartbeat:
        row.lease_until = after(at, change.length);
        wakeup.due = row.lease_until;
        break;
      case RunChange::Kind::retry:
        row.status = RunStatus::pending;
        row.run_at = after(at, change.length);
        row.error = change.error;
        row.last_error = error_line(change.error);
        row.lease_until.reset();
        row.leased_by.clear();
        run_event(run, "retried", row.attempt, change.actor, change.error);
        wakeup.due = row.run_at;
        break;
      case RunChange::Kind::release:
        row.status = RunStatus::pending;
        --row.attempt;
        row.lease_until.reset();
        row.leased_by.clear();
        run_event(run, "released", row.attempt, change.actor, Json());
        wakeup.runs = true;
        break;
    }
    row.updated_at = at;
    if (const auto& key = change.key)
      keys_.try_emplace({key->scope, key->key}, Key{{key->request_hash, key->answer}, at});
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
    if (run.row.deleted_at) continue;
    const bool lapsed = run.row.status == RunStatus::leased && run.row.lease_until <= at;
    if (is_overdue(run, at) || (lapsed && run.row.attempt >= run.row.attempts_max)) found.push_back(run.row);
  }
  return found;
}

Result<std::optional<RunRow>> MemoryStore::find_run(const RunId& id) {
  const std::lock_guard lock(mutex_);
  const auto found = runs_.find(id.value);
  if (found == runs_.end()) return std::optional<RunRow>();
  return std::optional(found->second.row);
}

}  // namespace cairn
