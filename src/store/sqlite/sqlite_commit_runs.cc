// The runs and kept signals of a commit.
#include <algorithm>

#include "store/lease_holder.h"
#include "store/lease_order.h"
#include "store/projection.h"
#include "store/sqlite/row_reading.h"
#include "store/sqlite/sqlite_commit.h"

namespace cairn {

using sqlite::Query;
using sqlite::Sql;

void SqliteCommit::change_runs(const Advance& advance, const Unit& unit, CommitOutcome& outcome) {
  for (const RunIntent& intent : advance.runs) {
    RunRow row = project_run(intent, advance.after.instance, now_);
    for (const auto& [run, key] : unit.limit_keys) {
      if (run == row.id) row.limit_key = key;
    }
    const auto& rules = store_.run_types();
    const auto rule = rules.find(row.type);
    const bool ruled = rule != rules.end();
    // If the type is paused or has limits, the run must go through lease_runs, which applies them.
    const bool leased =
        unit.lease && !(ruled && (rule->second.paused || is_limited(rule->second))) &&
        std::find(unit.lease->types.begin(), unit.lease->types.end(), row.type) != unit.lease->types.end();
    if (leased) {
      row.status = RunStatus::leased;
      row.leased_by = unit.lease->owner;
      row.lease_until = after(now_, ruled && rule->second.lease ? *rule->second.lease : unit.lease->length);
      row.attempt = row.leases = 1;
      row.fence = fence_step();
      if (ruled) apply_overrides(rule->second, row);
    }
    store_.insert_run(row, wakeup_);
    if (leased) outcome.leased.push_back(std::move(row));
  }
  for (const RunId& run : advance.runs_cancelled) {
    std::int64_t number = 0;
    int attempt = 0;
    {
      Query row = db_.query(Sql::cancel_run, run.value, now_);
      if (row.next()) {
        number = row.integer(0);
        attempt = static_cast<int>(row.integer(1));
        wakeup_.runs |= store_.limits_concurrency(row.text(2));
        row.next();
      }
    }
    if (number != 0) store_.run_event(number, "cancelled", attempt, unit.actor, Json());
  }
  drop_cancelled(advance, outcome);
  for (const OutboxEntry& event : events_of(advance, store_.events_)) {
    store_.write_event(advance.after.instance, event, wakeup_);
  }
}

void SqliteCommit::end_run(const RunEnd& end) {
  wakeup_.runs |= ending_.limited;
  std::optional<std::string> line;
  if (end.status == RunStatus::failed) line = error_line(end.error);
  if (db_.run(Sql::end_run, ending_.number, end.fence, to_string(end.status), end.result, end.error, line, now_) != 1 &&
      !db_.error()) {
    db_.fail({ErrorCode::corrupt, "run " + end.run.value + " moved inside a transaction"});
  }
  store_.run_event(ending_.number, to_string(end.status), ending_.attempt, end.actor,
                   end.status == RunStatus::failed ? end.error : Json());
}

// A kept signal that an instance now waits for becomes a message to it. Only one is taken at a time: its delivery
// commits again and takes the next. One instance therefore cannot drain signals that others wait for.
void SqliteCommit::claim_kept(const Place& place) {
  if (!is_final(place.last->status)) claim_kept(place.number, place.last->waits);
}

void SqliteCommit::claim_kept(std::int64_t number, const std::vector<Wait>& waits) {
  bool asked = false;
  for (const Wait& wait : waits) {
    if (wait.kind != WaitKind::signal) continue;
    if (!asked && db_.query(Sql::has_signal_message, number).next()) return;
    asked = true;
    std::optional<std::string_view> key;
    if (wait.key.is_string()) key = wait.key.as_string();
    std::int64_t kept = 0;
    {
      Query row = db_.query(Sql::find_kept, wait.name, key, now_, number);
      if (row.next()) kept = row.integer(0);
    }
    if (kept == 0) continue;
    db_.run(Sql::claim_kept, kept, number);
    wakeup_.messages = true;
    return;
  }
}

// After a signal's message was removed without a commit of its instance: it was refused, or it was a repeat.
void SqliteCommit::claim_next(std::int64_t number) {
  std::vector<Wait> waits;
  {
    Query rows = db_.query(Sql::signal_waits_of, number);
    while (rows.next()) {
      Wait& wait = waits.emplace_back();
      wait.kind = WaitKind::signal;
      wait.name = rows.text(0);
      if (!rows.is_null(1)) wait.key = Json(rows.text(1));
    }
  }
  claim_kept(number, waits);
}

}  // namespace cairn
