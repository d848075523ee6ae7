#include <algorithm>
#include <set>

#include "store/sql_rows.h"
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

// Rows come in order of creation, so no old row follows the first young one. The columns begin with the number and the
// time.
Candidates oldest(Query rows, Timestamp before, std::size_t max, auto&& is_old) {
  Candidates found;
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

namespace {

// Ids by number, in pages. The statement takes an instant, a number and a limit.
template <class Id>
Result<Page<Id>> unchanged(auto&& db, Sql statement, Timestamp before, const PageRequest& request) {
  CAIRN_TRY(const std::int64_t after, sql::read_cursor(request.cursor, 0));
  Page<Id> page;
  {
    std::int64_t last = 0;
    Query rows = db->query(statement, before, after, static_cast<std::int64_t>(request.limit + 1));
    while (rows.next()) {
      if (page.items.size() == request.limit) {
        page.next_cursor = std::to_string(last);
        break;
      }
      page.items.push_back({rows.text(1)});
      last = rows.integer(0);
    }
  }
  return db.give(std::move(page));
}

}  // namespace

Result<Page<InstanceId>> SqliteStore::unchanged_instances(Timestamp before, const PageRequest& request) {
  return unchanged<InstanceId>(reader(), Sql::unchanged_instances, before, request);
}

Result<Page<TaskId>> SqliteStore::unchanged_tasks(Timestamp before, const PageRequest& request) {
  return unchanged<TaskId>(reader(), Sql::unchanged_tasks, before, request);
}

// A reader finds the candidates, so the writer is held only for the removal itself.
Result<RowRetentionOutcome> SqliteStore::retire_rows(const RowRetention& request) {
  Candidates runs, deleted_runs, run_events, letters, events, keys;
  std::vector<std::string> users;
  {
    Reader db = reader();
    const auto is_past = [&](const Query& row) {
      return request.runs_before && row.integer(3) != 0 && row.time(2) < *request.runs_before;
    };
    if (request.runs_before) {
      runs = oldest(db->query(Sql::oldest_runs), *request.runs_before, request.max,
                    [&](const Query& row) { return row.is_null(4) && is_past(row); });
    }
    if (const auto latest = std::max(request.runs_before, request.deleted_runs_before)) {
      deleted_runs = oldest(db->query(Sql::oldest_runs), *latest, request.max, [&](const Query& row) {
        if (row.is_null(4)) return false;
        return is_past(row) || (request.deleted_runs_before && row.time(4) < *request.deleted_runs_before);
      });
    }
    if (request.run_events_before) {
      std::set<std::int64_t> seen;
      run_events =
          oldest(db->query(Sql::oldest_run_events, *request.run_events_before), *request.run_events_before, request.max,
                 [&](const Query& row) { return row.integer(2) == 0 && seen.insert(row.integer(0)).second; });
    }
    if (request.dead_letters_before) {
      letters = oldest(db->query(Sql::oldest_dead_letters), *request.dead_letters_before, request.max,
                       [](const Query& row) { return row.integer(2) == 0; });
    }
    if (request.outbox_before) {
      events = oldest(db->query(Sql::oldest_events), *request.outbox_before, request.max,
                      [&](const Query& row) { return !row.is_null(2) && row.time(2) < *request.outbox_before; });
    }
    if (request.keys_before) {
      keys = oldest(db->query(Sql::oldest_keys), *request.keys_before, request.max, [](const Query&) { return true; });
    }
    if (request.users_before) {
      Query rows = db->query(Sql::oldest_token_users, *request.users_before, static_cast<std::int64_t>(request.max));
      while (rows.next()) users.push_back(rows.text(0));
    }
    if (db->error()) return *db->error();
  }
  RowRetentionOutcome outcome;
  outcome.more = runs.more || deleted_runs.more || run_events.more || letters.more || events.more || keys.more ||
                 users.size() == request.max;
  if (runs.rows.empty() && deleted_runs.rows.empty() && run_events.rows.empty() && letters.rows.empty() &&
      events.rows.empty() && keys.rows.empty() && users.empty()) {
    return outcome;
  }

  const std::lock_guard lock(writer_mutex_);
  if (auto refused = refusal()) return *refused;
  Transaction transaction(*writer_);
  const auto remove_runs = [&](const Candidates& old, std::size_t& removed) {
    for (const std::int64_t run : old.rows) {
      if (writer_->run(Sql::remove_run, run, request.runs_before, request.deleted_runs_before) == 0) continue;
      writer_->run(Sql::remove_events_of_run, run);
      ++removed;
    }
  };
  remove_runs(runs, outcome.runs);
  remove_runs(deleted_runs, outcome.deleted_runs);
  for (const std::int64_t run : run_events.rows) {
    outcome.run_events +=
        static_cast<std::size_t>(writer_->run(Sql::remove_old_events_of_run, run, *request.run_events_before));
  }
  for (const std::int64_t letter : letters.rows) {
    outcome.dead_letters +=
        static_cast<std::size_t>(writer_->run(Sql::remove_dead_letter, letter, *request.dead_letters_before));
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
