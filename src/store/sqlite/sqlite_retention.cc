#include "store/sqlite/reader.h"

namespace cairn {

using sqlite::Query;
using sqlite::Sql;
using sqlite::Transaction;

namespace {

struct Candidates {
  std::vector<std::int64_t> rows;
  bool more = false;
};

// Rows come in order of creation, so no old row follows the first young one.
Candidates oldest(sqlite::Connection& db, Sql statement, Timestamp before, std::size_t max, auto&& is_old) {
  Candidates found;
  Query rows = db.query(statement);
  while (rows.next() && rows.time(1) < before) {
    if (!is_old(rows)) continue;
    if (found.rows.size() == max) {
      found.more = true;
      break;
    }
    found.rows.push_back(rows.integer(0));
  }
  return found;
}

}  // namespace

// A reader finds the candidates, so the writer is held only for the removal itself.
Result<RowRetentionOutcome> SqliteStore::retire_rows(const RowRetention& request) {
  Candidates runs, events, keys;
  std::vector<std::string> users;
  {
    Reader db = reader();
    if (request.runs_before) {
      runs = oldest(*db, Sql::oldest_runs, *request.runs_before, request.max,
                    [&](const Query& row) { return row.integer(3) != 0 && row.time(2) < *request.runs_before; });
    }
    if (request.outbox_before) {
      events = oldest(*db, Sql::oldest_events, *request.outbox_before, request.max,
                      [&](const Query& row) { return !row.is_null(2) && row.time(2) < *request.outbox_before; });
    }
    if (request.keys_before) {
      keys = oldest(*db, Sql::oldest_keys, *request.keys_before, request.max, [](const Query&) { return true; });
    }
    if (request.users_before) {
      Query rows = db->query(Sql::oldest_token_users, *request.users_before, static_cast<std::int64_t>(request.max));
      while (rows.next()) users.push_back(rows.text(0));
    }
    if (db->error()) return *db->error();
  }
  RowRetentionOutcome outcome;
  outcome.more = runs.more || events.more || keys.more || users.size() == request.max;
  if (runs.rows.empty() && events.rows.empty() && keys.rows.empty() && users.empty()) return outcome;

  const std::lock_guard lock(writer_mutex_);
  if (auto refused = refusal()) return *refused;
  Transaction transaction(*writer_);
  for (const std::int64_t run : runs.rows) {
    if (writer_->run(Sql::remove_run, run, *request.runs_before) == 0) continue;
    writer_->run(Sql::remove_events_of_run, run);
    ++outcome.runs;
  }
  for (const std::int64_t event : events.rows) {
    if (writer_->run(Sql::remove_event, event, *request.outbox_before) == 0) continue;
    writer_->run(Sql::remove_deliveries, event);
    ++outcome.outbox;
  }
  for (const std::int64_t key : keys.rows) {
    outcome.keys += static_cast<std::size_t>(writer_->run(Sql::remove_key, key, *request.keys_before));
  }
  for (const std::string& account : users) {
    outcome.users += static_cast<std::size_t>(writer_->run(Sql::remove_token_user, account, *request.users_before));
  }
  if (auto done = transaction.commit(); !done) return failed(done.error());
  return outcome;
}

}  // namespace cairn
