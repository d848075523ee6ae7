#include <algorithm>

#include "store/postgres/commit/end_standalone_runs.h"
#include "store/postgres/runs/lease_deadlines.h"
#include "store/postgres/runs/new_keys.h"
#include "store/postgres/wire/lock_key.h"
#include "store/postgres/wire/row_reading.h"
#include "store/postgres/wire/transaction.h"
#include "store/projection.h"
#include "store/run_change.h"

namespace cairn {

using postgres::Column;
using postgres::Jsonb;
using postgres::LeaseDeadlines;
using postgres::LeasedTogether;
using postgres::RowList;
using postgres::Rows;
using postgres::RowType;
using postgres::Sql;
using postgres::text_or_null;
using postgres::Uuid;

namespace {

// Whether the change frees a slot of a type with limited concurrency.
bool leaves_slot(const RunChange& change, const RunRow& before) {
  return before.status == RunStatus::leased && change.kind != RunChange::Kind::heartbeat;
}

// Whether two runs without keys are equal except for their ids and payloads.
bool are_alike(const RunRow& a, const RunRow& b, Timestamp at) {
  return a.type == b.type && a.priority == b.priority && a.attempts_max == b.attempts_max &&
         accepted_run_at(a, at) == accepted_run_at(b, at) && a.backoff == b.backoff && a.factor == b.factor &&
         a.cap == b.cap && a.jitter == b.jitter && a.timeout == b.timeout && a.limit_key == b.limit_key;
}

void add_job(RowList& jobs, const RunRow& row, Timestamp at) {
  const bool own = postgres::is_own_uuid(row.id);
  const std::string derived = own ? std::string() : postgres::run_uuid(row.id);
  jobs.add(Uuid{own ? row.id.value : derived}, own ? std::nullopt : std::optional(row.id.value), row.type, row.priority,
           text_or_null(row.idempotency_key), Jsonb{row.payload}, row.attempts_max, accepted_run_at(row, at),
           row.backoff.ms_up(), row.factor, row.cap.ms_up(), row.jitter,
           row.timeout ? std::optional(row.timeout->ms_up()) : std::nullopt, row.limit_key);
}

}  // namespace

void PostgresStore::forget_leases(Connection& db) {
  Column<std::int64_t> rows;
  for (const std::int64_t row : leases_.spent()) rows.add(row);
  if (!rows.empty()) db.send(Sql::forget_leases, rows);
}

std::vector<LeasedTogether> PostgresStore::insert_runs(Connection& db, const std::vector<RunRow>& rows,
                                                       const RowList& other_events, Timestamp at, Wakeup& wakeup) {
  LeaseDeadlines leased;
  bool queued = false;
  RowList runs{RowType::run}, events{RowType::run_event};
  const Json nothing;
  for (const RunRow& row : rows) {
    const std::string uuid = postgres::run_uuid(row.id);
    runs.add(Uuid{uuid}, postgres::is_own_uuid(row.id) ? std::nullopt : std::optional(row.id.value), row.type,
             to_string(row.status), row.priority, text_or_null(row.idempotency_key), Jsonb{row.payload}, row.attempt,
             row.attempts_max, row.run_at, row.lease_until, text_or_null(row.leased_by), row.fence, row.leases,
             row.backoff.ms_up(), row.factor, row.cap.ms_up(), row.jitter,
             row.timeout ? std::optional(row.timeout->ms_up()) : std::nullopt,
             row.instance ? std::optional(row.instance->value) : std::nullopt, text_or_null(row.token.value),
             text_or_null(row.step), row.limit_key);
    if (row.status == RunStatus::leased) {
      events.add(Uuid{uuid}, created_leased, at, row.attempt, row.leased_by, Jsonb{nothing});
      leased.add(row, uuid, at, wakeup);
    } else {
      events.add(Uuid{uuid}, "created", at, 0, row.created_by, Jsonb{nothing});
      queued = true;
      wakeup.runs = true;
      if (row.run_at > at && (!wakeup.due || row.run_at < *wakeup.due)) wakeup.due = row.run_at;
    }
  }
  if (!runs.empty()) db.send(queued ? Sql::insert_queued_runs : Sql::insert_run, runs, at);
  events.append_rows(other_events);
  if (!events.empty() && pool_.target().run_events) db.send(Sql::insert_run_events, events);
  return leased.send(db);
}

void PostgresStore::run_event(Connection& db, const RunId& run, std::string_view kind, Timestamp at, int attempt,
                              std::string_view actor, const Json& what) {
  if (!pool_.target().run_events) return;
  RowList event{RowType::run_event};
  event.add(Uuid{postgres::run_uuid(run)}, kind, at, attempt, actor, Jsonb{what});
  db.send(Sql::insert_run_events, event);
}

Result<std::pair<RunRow, bool>> PostgresStore::submit_run(const RunRow& given) {
  RunRow run = given;
  CAIRN_TRY(const auto fresh, submit_runs(std::span(&run, 1)));
  return std::pair(std::move(run), fresh.front());
}

Result<std::vector<bool>> PostgresStore::submit_runs(std::span<RunRow> runs) {
  struct Submission {
    Timestamp at;
    std::vector<std::pair<std::size_t, RunRow>> repeats = {};
  };
  const auto insert = [&](Connection& db) -> Result<Submission> {
    const Submission all{now()};
    insert_fresh(db, runs, all.at);
    return all;
  };
  const auto submit = [&](Connection& db) -> Result<Submission> {
    Submission some{now()};
    const std::size_t asked = send_submission(db, runs, some.at);
    db.finish();
    Rows inserted = db.take(asked);
    if (!inserted.next()) return some;  // the connection has the error
    if (inserted.integer(0) == static_cast<std::int64_t>(runs.size())) return some;
    std::set<std::string> fresh;
    for (std::string& uuid : inserted.texts(1)) fresh.insert(std::move(uuid));
    for (std::size_t i = 0; i < runs.size(); ++i) {
      // A second run with the same id in this batch is a repeat of the first.
      const std::string uuid = postgres::run_uuid(runs[i].id);
      if (fresh.erase(uuid) > 0) continue;
      CAIRN_TRY(RunRow known, find_submitted(db, runs[i], uuid));
      some.repeats.emplace_back(i, std::move(known));
    }
    return some;
  };
  std::vector<bool> fresh(runs.size(), true);
  if (runs.empty()) return fresh;
  const bool unnamed = std::all_of(runs.begin(), runs.end(), [](const RunRow& run) {
    return run.idempotency_key.empty() && postgres::is_own_uuid(run.id);
  });
  auto submitted = unnamed ? write<Submission>(insert) : write<Submission>(submit);
  // One of these ids exists after all.
  if (unnamed && !submitted && submitted.error().code == ErrorCode::conflict) submitted = write<Submission>(submit);
  if (!submitted) return std::move(submitted).error();
  for (auto& [place, known] : submitted->repeats) {
    fresh[place] = false;
    runs[place] = std::move(known);
  }
  Wakeup wakeup;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (fresh[i]) accept_run(runs[i], submitted->at, wakeup);
  }
  tell(wakeup);
  return fresh;
}

// For runs with generated ids and without keys.
void PostgresStore::insert_fresh(Connection& db, std::span<const RunRow> given, Timestamp at) {
  // In parts: the server processes the first while the next is built.
  constexpr std::size_t part = 500;
  for (std::size_t begin = 0; begin < given.size(); begin += part) {
    const auto rows = given.subspan(begin, std::min(part, given.size() - begin));
    Column<Uuid> ids;
    for (const RunRow& row : rows) ids.add(Uuid{row.id.value});
    if (std::all_of(rows.begin(), rows.end(), [&](const RunRow& row) { return are_alike(row, rows[0], at); })) {
      const RunRow& any = rows[0];
      Column<Jsonb> payloads;
      for (const RunRow& row : rows) payloads.add(Jsonb{row.payload});
      db.send(Sql::insert_like_runs, ids, payloads, any.type, any.priority, any.attempts_max, accepted_run_at(any, at),
              any.backoff.ms_up(), any.factor, any.cap.ms_up(), any.jitter,
              any.timeout ? std::optional(any.timeout->ms_up()) : std::nullopt, any.limit_key, at);
    } else {
      RowList jobs{RowType::job};
      for (const RunRow& row : rows) add_job(jobs, row, at);
      db.send(Sql::insert_fresh_runs, jobs, at);
    }
    if (!pool_.target().run_events) continue;
    Column<std::string> actors;
    for (const RunRow& row : rows) actors.add(row.created_by);
    db.send(Sql::insert_created_events, ids, at, actors);
  }
}

std::size_t PostgresStore::send_submission(Connection& db, std::span<const RunRow> given, Timestamp at) {
  // Two transactions that submit the same keys wait for each other here, in the common lock order.
  std::set<std::int64_t> ordered;
  RowList jobs{RowType::job};
  for (const RunRow& row : given) {
    if (!row.idempotency_key.empty()) ordered.insert(postgres::lock_key("run key", db.schema(), row.idempotency_key));
    add_job(jobs, row, at);
  }
  if (!ordered.empty()) {
    Column<std::int64_t> locks;
    Column<bool> exclusive;
    for (const std::int64_t lock : ordered) {
      locks.add(lock);
      exclusive.add(true);
    }
    db.send(Sql::signal_locks, locks, exclusive);
  }
  // Of each run, the actor of its first event; none without events.
  Column<Uuid> ids;
  Column<std::string> actors;
  for (const RunRow& row : pool_.target().run_events ? given : std::span<const RunRow>()) {
    ids.add(Uuid{postgres::run_uuid(row.id)});
    actors.add(row.created_by);
  }
  return db.send(Sql::submit_runs, jobs, at, ids, actors);
}

// The key takes precedence over the id.
Result<RunRow> PostgresStore::find_submitted(Connection& db, const RunRow& run, const std::string& uuid) {
  for (const bool by_key : {true, false}) {
    if (by_key && run.idempotency_key.empty()) continue;
    Rows rows = by_key ? db.query(Sql::find_run_by_key, run.idempotency_key) : db.query(Sql::find_run, Uuid{uuid});
    if (rows.next()) {
      RunRow known = sql::read_run(rows);
      if (rows.fault()) return *rows.fault();
      return known;
    }
  }
  if (db.error()) return *db.error();
  return Error{ErrorCode::unavailable, "run " + run.id.value + " was removed while it was submitted again"};
}

// Drains 8 % more jobs a second than the commit queue and needs 15 % less CPU of the process (`cairn-bench W5`).
Result<std::vector<CommitOutcome>> PostgresStore::end_runs(std::span<const RunEnd> ends) {
  Wakeup wakeup;
  std::vector<const RunEnd*> list;
  list.reserve(ends.size());
  for (const RunEnd& end : ends) list.push_back(&end);
  std::string state;
  auto outcomes = write<std::vector<CommitOutcome>>(
      [&](Connection& db) -> Result<std::vector<CommitOutcome>> {
        wakeup = {};
        db.send(Sql::short_lock_timeout);
        return postgres::end_standalone_runs(db, list, leases_, now(), pool_.target().run_events, wakeup);
      },
      &state);
  if (!outcomes && (outcomes.error().code == ErrorCode::conflict || outcomes.error().code == ErrorCode::limit ||
                    state == postgres::lock_timeout_state)) {
    // One of them violates a constraint or a limit of the database, or its row is locked: `commit` writes the others
    // without it.
    std::vector<Unit> units(ends.size());
    for (std::size_t i = 0; i < ends.size(); ++i) units[i].run = ends[i];
    return commit(units);
  }
  if (!outcomes) return outcomes;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if ((*outcomes)[i].kind == CommitOutcome::Kind::done) leases_.ended(postgres::run_uuid(ends[i].run), ends[i].fence);
  }
  tell(wakeup);
  return outcomes;
}

Result<RunChanged> PostgresStore::change_run(const RunChange& change) { return change_run(change, row_wait_max); }

Result<RunChanged> PostgresStore::change_run(const RunChange& change, std::chrono::milliseconds lock_wait) {
  Wakeup wakeup;
  const std::string uuid = postgres::run_uuid(change.run);
  const auto apply = [&](Connection& db) -> Result<RunChanged> {
    wakeup = {};
    const Timestamp at = now();
    const Uuid id{uuid};
    Column<Uuid> only;
    only.add(id);
    RunChanged answer;
    db.send(Sql::wait_for_locks, std::to_string(lock_wait.count()) + "ms");
    {
      Rows rows = db.query(Sql::lock_run, id);
      if (!rows.next()) return RunChanged{RunChanged::Kind::not_found, {}};
      answer.row = sql::read_run(rows);
      if (rows.fault()) return *rows.fault();
    }
    const RunRow row = answer.row;
    const auto event = [&](const char* kind, int attempt, const Json& details) {
      run_event(db, row.id, kind, at, attempt, change.actor, details);
    };
    answer.kind = check_change(change, row);
    if (clears_lease(change, row)) db.send(Sql::clear_leases, only);
    if (answer.kind == RunChanged::Kind::done) {
      switch (change.kind) {
        case RunChange::Kind::remove:
          if (row.deleted_at) break;
          db.send(Sql::unqueue_runs, only);
          db.send(Sql::delete_run_softly, id, at, change.reason);
          event("deleted", row.attempt, Json(change.reason));
          break;
        case RunChange::Kind::cancel:
          db.send(Sql::unqueue_runs, only);
          db.send(Sql::cancel_run, id, at);
          event("cancelled", row.attempt, Json());
          if (const auto told = event_of_cancel(row, events_)) {
            write_event(db, row.instance.value_or(InstanceId{}), *told, wakeup);
          }
          break;
        case RunChange::Kind::heartbeat: {
          wakeup.due = after(at, change.length);
          Column<Timestamp> until;
          until.add(*wakeup.due);
          db.send(Sql::heartbeat_runs, only, until, at);
          break;
        }
        case RunChange::Kind::release:
          db.send(Sql::unqueue_runs, only);
          db.send(Sql::release_runs, only, at);
          db.send(Sql::queue_runs, only, at);
          event("released", row.attempt - 1, Json());
          wakeup.runs = true;
          break;
        case RunChange::Kind::retry:
          wakeup.due = after(at, change.length);
          db.send(Sql::unqueue_runs, only);
          db.send(Sql::retry_run, id, *wakeup.due, Jsonb{change.error}, error_line(change.error), at);
          db.send(Sql::queue_runs, only, at);
          event("retried", row.attempt, change.error);
          break;
      }
      if (change.key) {
        postgres::NewKeys keys;
        keys.add(*change.key);
        keys.send(db, at);
      }
    }
    const std::size_t limits = db.send(Sql::type_limits, row.type);
    const std::size_t after_change = db.send(Sql::find_run, id);
    db.finish();
    if (Rows limited = db.take(limits); limited.next() && limited.boolean(0)) wakeup.runs |= leaves_slot(change, row);
    if (Rows rows = db.take(after_change); rows.next()) answer.row = sql::read_run(rows);
    return answer;
  };
  std::string state;
  auto changed = write<RunChanged>(apply, &state);
  if (!changed && state == postgres::lock_timeout_state) {
    return Error{ErrorCode::unavailable, "another transaction has locked run " + change.run.value};
  }
  if (changed) {
    if (changed->row.status != RunStatus::leased) leases_.ended(uuid, changed->row.fence);
    tell(wakeup);
  }
  return changed;
}

}  // namespace cairn
