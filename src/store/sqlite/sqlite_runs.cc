#include <algorithm>

#include "store/projection.h"
#include "store/run_change.h"
#include "store/sqlite/reader.h"
#include "store/sqlite/row_reading.h"

namespace cairn {

using sqlite::Query;
using sqlite::Sql;
using sqlite::text_or_null;
using sqlite::Transaction;

void SqliteStore::run_event(std::int64_t run, std::string_view kind, int attempt, std::string_view actor,
                            const Json& details) {
  if (!run_events_) return;
  writer_->run(Sql::insert_run_event, run, kind, now(), attempt, actor, details);
}

void SqliteStore::insert_run(RunRow& row, Wakeup& wakeup) {
  std::optional<std::int64_t> timeout;
  if (row.timeout) timeout = row.timeout->ms_up();
  std::optional<std::string_view> instance;
  if (row.instance) instance = row.instance->value;
  writer_->run(Sql::insert_run, row.id.value, row.type, to_string(row.status), row.priority,
               text_or_null(row.idempotency_key), row.payload, row.attempt, row.attempts_max, row.run_at,
               row.lease_until, text_or_null(row.leased_by), row.fence, row.leases, row.backoff.ms_up(), row.factor,
               row.cap.ms_up(), row.jitter, timeout, instance, text_or_null(row.token.value), text_or_null(row.step),
               row.created_at, text_or_null(row.limit_key));
  const std::int64_t number = writer_->last_number();
  if (row.status == RunStatus::leased) {
    run_event(number, created_leased, row.attempt, row.leased_by, Json());
    const Timestamp due = attention_at(row, row.created_at);
    if (!wakeup.due || due < *wakeup.due) wakeup.due = due;
  } else {
    run_event(number, "created", 0, row.created_by, Json());
    wakeup.runs = true;
  }
}

Result<std::pair<RunRow, bool>> SqliteStore::submit_run(const RunRow& given) {
  RunRow run = given;
  CAIRN_TRY(const auto fresh, submit_runs(std::span(&run, 1)));
  return std::pair(std::move(run), fresh.front());
}

Result<std::vector<bool>> SqliteStore::submit_runs(std::span<RunRow> runs) {
  Wakeup wakeup;
  std::vector<bool> fresh(runs.size());
  {
    const std::lock_guard lock(writer_mutex_);
    if (auto refused = refusal()) return *refused;
    Transaction transaction(*writer_);
    const Timestamp at = now();
    std::vector<std::pair<RunRow*, RunRow>> repeats;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (auto known = submitted_before(runs[i])) {
        repeats.emplace_back(&runs[i], std::move(*known));
        continue;
      }
      RunRow row = runs[i];
      accept_run(row, at, wakeup);
      insert_run(row, wakeup);
      fresh[i] = true;
    }
    if (auto done = transaction.commit(); !done) return failed(done.error());
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (fresh[i]) accept_run(runs[i], at, wakeup);
    }
    for (auto& [run, known] : repeats) *run = std::move(known);
  }
  tell(wakeup);
  return fresh;
}

// Finds the run by its key, otherwise by its id.
std::optional<RunRow> SqliteStore::submitted_before(const RunRow& given) {
  for (const Sql known : {Sql::find_run_by_key, Sql::find_run}) {
    const std::string& by = known == Sql::find_run ? given.id.value : given.idempotency_key;
    if (by.empty()) continue;
    Query found = writer_->query(known, by);
    if (found.next()) return sql::read_run(found);
  }
  return std::nullopt;
}

// Runs inside the caller's transaction. A key that is stored already stays as it is.
void SqliteStore::keep_key(const IdempotencyKey& key, Timestamp at) {
  if (writer_->query(Sql::find_key, key.scope, key.key).next()) return;
  writer_->run(Sql::insert_key, key.scope, key.key, key.request_hash, sqlite::json_text(key.answer), at);
}

// Runs inside the caller's transaction.
Result<RunChanged> SqliteStore::write_change(const RunChange& change, Wakeup& wakeup) {
  const Timestamp at = now();
  RunChanged answer;
  std::int64_t number = 0;
  {
    Query found = writer_->query(Sql::find_run, change.run.value);
    if (found.next()) {
      number = found.integer(sql::run_number_column);
      answer.row = sql::read_run(found);
    }
  }
  if (writer_->error()) return *writer_->error();
  if (number == 0) return RunChanged{RunChanged::Kind::not_found, {}};
  const RunRow& row = answer.row;
  answer.kind = check_change(change, row);
  if (clears_lease(change, row)) writer_->run(Sql::clear_lease, number);
  if (answer.kind == RunChanged::Kind::done) {
    switch (change.kind) {
      case RunChange::Kind::remove:
        if (row.deleted_at) break;
        writer_->run(Sql::delete_run_softly, number, at, change.reason);
        run_event(number, "deleted", row.attempt, change.actor, Json(change.reason));
        break;
      case RunChange::Kind::cancel:
        writer_->run(Sql::cancel_run, row.id.value, at);
        run_event(number, "cancelled", row.attempt, change.actor, Json());
        if (const auto event = event_of_cancel(row, events_)) {
          write_event(row.instance.value_or(InstanceId{}), *event, wakeup);
        }
        break;
      case RunChange::Kind::heartbeat:
        wakeup.due = after(at, change.length);
        writer_->run(Sql::heartbeat_run, number, *wakeup.due, at);
        break;
      case RunChange::Kind::release:
        writer_->run(Sql::release_run, number, at);
        run_event(number, "released", row.attempt - 1, change.actor, Json());
        wakeup.runs = true;
        break;
      case RunChange::Kind::retry:
        wakeup.due = after(at, change.length);
        writer_->run(Sql::retry_run, number, *wakeup.due, change.error, error_line(change.error), at);
        run_event(number, "retried", row.attempt, change.actor, change.error);
        break;
    }
    if (change.key) keep_key(*change.key, at);
  }
  if (row.status == RunStatus::leased && change.kind != RunChange::Kind::heartbeat) {
    wakeup.runs |= limits_concurrency(row.type);
  }
  {
    Query found = writer_->query(Sql::find_run, change.run.value);
    if (found.next()) answer.row = sql::read_run(found);
  }
  return answer;
}

Result<RunChanged> SqliteStore::change_run(const RunChange& change) {
  return std::move(change_runs({&change, 1}).front());
}

std::vector<Result<RunChanged>> SqliteStore::change_runs(std::span<const RunChange> changes) {
  const auto all = [&changes](const Error& error) {
    return std::vector<Result<RunChanged>>(changes.size(), Result<RunChanged>(error));
  };
  Wakeup wakeup;
  bool broken = true;
  std::vector<Result<RunChanged>> answers;
  answers.reserve(changes.size());
  {
    const std::lock_guard lock(writer_mutex_);
    if (auto refused = refusal()) return all(*refused);
    Transaction transaction(*writer_);
    for (const RunChange& change : changes) {
      Wakeup own;
      answers.push_back(write_change(change, own));
      if (!answers.back()) break;
      wakeup.runs |= own.runs;
      wakeup.outbox |= own.outbox;
      if (own.due && (!wakeup.due || *own.due < *wakeup.due)) wakeup.due = own.due;
    }
    const bool whole = answers.empty() || answers.back();
    if (!whole && changes.size() == 1) return all(answers.back().error());
    if (whole) {
      if (auto done = transaction.commit(); !done) return all(failed(done.error()));
      broken = false;
    }
  }
  if (broken) {
    // An unreadable run must not cost the others their leases, so each change gets its own transaction.
    answers.clear();
    for (const RunChange& change : changes) answers.push_back(change_run(change));
    return answers;
  }
  tell(wakeup);
  return answers;
}

Result<std::vector<RunRow>> SqliteStore::exhausted_runs(std::size_t max) {
  Reader db = reader();
  const Timestamp at = now();
  std::vector<std::string> types;
  {
    Query rows = db->query(Sql::leased_types, "", sqlite::beyond_all_text);
    while (rows.next()) types.push_back(rows.text(0));
  }
  std::vector<RunRow> found;
  {
    Query rows = db->query(Sql::overdue_runs, at, static_cast<std::int64_t>(max));
    while (rows.next()) {
      found.push_back(sql::read_run(rows));
      db->take_row_fault();  // reported when it is ended; it must not block the others here
    }
  }
  for (const std::string& type : types) {
    if (found.size() == max) break;
    Query rows = db->query(Sql::exhausted_runs, type, at, static_cast<std::int64_t>(max - found.size()));
    while (rows.next()) {
      found.push_back(sql::read_run(rows));
      db->take_row_fault();  // reported when it is ended; it must not block the others here
    }
  }
  return db.give(std::move(found));
}

Result<std::optional<RunRow>> SqliteStore::find_run(const RunId& id) {
  Reader db = reader();
  std::optional<RunRow> found;
  {
    Query row = db->query(Sql::find_run, id.value);
    if (row.next()) found = sql::read_run(row);
  }
  return db.give(std::move(found));
}

Result<Page<RunRow>> SqliteStore::list_runs(const RunFilter& filter, const PageRequest& request) {
  CAIRN_TRY(const std::int64_t cursor, sql::read_cursor(request.cursor, INT64_MAX));
  Reader db = reader();
  Page<RunRow> page;
  std::optional<std::string_view> status, instance;
  if (filter.status) status = to_string(*filter.status);
  if (filter.instance) instance = filter.instance->value;
  {
    const Sql statement = filter.retrying   ? Sql::list_retrying_runs
                          : filter.instance ? Sql::list_instance_runs
                                            : Sql::list_runs;
    Query rows = db->query(statement, cursor, status, filter.type_prefix, instance, filter.deleted, sqlite::no_limit);
    std::int64_t last = cursor;
    while (rows.next()) {
      if (page.items.size() == request.limit) {
        page.next_cursor = std::to_string(last);
        break;
      }
      last = rows.integer(sql::run_number_column);
      RunRow row = sql::read_run(rows);
      if (const auto fault = db->take_row_fault()) {
        page.unreadable.push_back("run " + row.id.value + ": " + fault->message);
        continue;
      }
      page.items.push_back(std::move(row));
    }
    pass_damage(*db, {"workflow_run"}, last, page.next_cursor);
  }
  return db.give(std::move(page));
}

Result<Page<RunEvent>> SqliteStore::list_run_events(const RunId& id, const PageRequest& request) {
  CAIRN_TRY(const std::int64_t cursor, sql::read_cursor(request.cursor, 0));
  Reader db = reader();
  Page<RunEvent> page;
  {
    Query rows = db->query(Sql::run_events, id.value, cursor, sqlite::no_limit);
    std::int64_t last = cursor;
    for (std::size_t read = 0; rows.next(); ++read) {
      if (read == request.limit) {
        page.next_cursor = std::to_string(last);
        break;
      }
      last = rows.integer(5);
      tell_event(page.items,
                 {id, rows.text(0), rows.time(1), static_cast<int>(rows.integer(2)), rows.text(3), rows.json(4)});
    }
  }
  return db.give(std::move(page));
}

}  // namespace cairn
