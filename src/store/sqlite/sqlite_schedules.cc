#include "store/projection.h"
#include "store/sqlite/reader.h"
#include "store/sqlite/row_reading.h"

namespace cairn {

using sqlite::json_text;
using sqlite::Query;
using sqlite::Sql;
using sqlite::Transaction;

namespace {

ScheduleRow read_schedule(const Query& query) {
  ScheduleRow row;
  row.name = query.text(0);
  row.state_version = static_cast<std::uint64_t>(query.integer(1));
  row.spec = query.json(2);
  row.paused = query.integer(3) != 0;
  row.next_at = query.time_or_nothing(4);
  row.last_at = query.time_or_nothing(5);
  row.last = query.json(6);
  row.queued = query.json(7);
  row.created_at = query.time(8);
  row.changed_at = query.time(9);
  return row;
}

}  // namespace

Result<PutSchedule> SqliteStore::put_schedule(const ScheduleRow& row) {
  Wakeup wakeup;
  {
    const std::lock_guard lock(writer_mutex_);
    if (auto refused = refusal()) return *refused;
    std::optional<Timestamp> next, last;
    if (row.next_at) next = whole_ms_up(*row.next_at);
    if (row.last_at) last = whole_ms(*row.last_at);
    Transaction transaction(*writer_);
    const std::int64_t written =
        row.state_version == 0 ? writer_->run(Sql::insert_schedule, row.name, json_text(row.spec), row.paused, next,
                                              last, row.last, row.queued, now())
                               : writer_->run(Sql::update_schedule, row.name, row.state_version, json_text(row.spec),
                                              row.paused, next, last, row.last, row.queued, now());
    if (auto done = transaction.commit(); !done) return failed(done.error());
    if (written == 0) return PutSchedule::stale;
    held_schedules_.erase(row.name);
    if (!row.paused) wakeup.due = next;
  }
  tell(wakeup);
  return PutSchedule::done;
}

Result<std::optional<ScheduleRow>> SqliteStore::find_schedule(const std::string& name) {
  Reader db = reader();
  std::optional<ScheduleRow> found;
  {
    Query row = db->query(Sql::find_schedule, name);
    if (row.next()) found = read_schedule(row);
  }
  return db.give(std::move(found));
}

Result<Page<ScheduleRow>> SqliteStore::list_schedules(const PageRequest& request) {
  Reader db = reader();
  Page<ScheduleRow> page;
  {
    Query rows = db->query(Sql::list_schedules, request.cursor, static_cast<std::int64_t>(request.limit + 1));
    while (rows.next()) {
      if (page.items.size() == request.limit) {
        page.next_cursor = page.items.back().name;
        break;
      }
      page.items.push_back(read_schedule(rows));
    }
  }
  return db.give(std::move(page));
}

Result<bool> SqliteStore::remove_schedule(const std::string& name) {
  const std::lock_guard lock(writer_mutex_);
  if (auto refused = refusal()) return *refused;
  Transaction transaction(*writer_);
  const std::int64_t gone = writer_->run(Sql::remove_schedule, name);
  if (auto done = transaction.commit(); !done) return failed(done.error());
  held_schedules_.erase(name);
  return gone == 1;
}

Result<std::vector<ScheduleRow>> SqliteStore::take_schedules(std::size_t max, Duration hold) {
  const std::lock_guard lock(writer_mutex_);
  if (auto refused = refusal()) return *refused;
  writer_->clear_error();
  const Timestamp at = now();
  std::vector<ScheduleRow> due;
  {
    Query rows = writer_->query(Sql::due_schedules, at);
    while (due.size() < max && rows.next()) {
      const auto held = held_schedules_.find(rows.text(0));
      if (held == held_schedules_.end() || held->second <= at) due.push_back(read_schedule(rows));
    }
  }
  if (writer_->error()) return *writer_->error();
  for (const ScheduleRow& row : due) held_schedules_[row.name] = after(at, hold);
  return due;
}

std::optional<Timestamp> SqliteStore::next_scheduled(Timestamp looked_at) {
  std::optional<Timestamp> next;
  const auto offer = [&next](Timestamp candidate) {
    if (!next || candidate < *next) next = candidate;
  };
  {
    Query rows = writer_->query(Sql::first_schedules);
    while (rows.next()) {
      const auto held = held_schedules_.find(rows.text(0));
      if (held == held_schedules_.end()) {
        offer(rows.time(1));
        break;
      }
      offer(std::max(held->second, rows.time(1)));
    }
  }
  {
    Query rows = writer_->query(Sql::next_retry, looked_at);
    if (rows.next() && !rows.is_null(0)) offer(rows.time(0));
  }
  const std::lock_guard lock(outbox_mutex_);
  for (const auto& [sink, held] : held_outbox_) {
    for (const auto& [sequence, until] : held) {
      if (until > looked_at) offer(until);
    }
  }
  return next;
}

}  // namespace cairn
