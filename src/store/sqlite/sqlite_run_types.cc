#include "store/sqlite/reader.h"

namespace cairn {

using sqlite::Query;
using sqlite::Sql;
using sqlite::text_or_null;
using sqlite::Transaction;

namespace {

std::optional<std::int64_t> ms_of(const std::optional<Duration>& length) {
  if (!length) return std::nullopt;
  return length->ms_up();
}

std::optional<Duration> length_at(const Query& row, int column) {
  if (row.is_null(column)) return std::nullopt;
  return Duration::of_ms(row.integer(column));
}

std::optional<int> count_at(const Query& row, int column) {
  if (row.is_null(column)) return std::nullopt;
  return static_cast<int>(row.integer(column));
}

std::vector<RunTypeRow> read_run_types(sqlite::Connection& db) {
  std::vector<RunTypeRow> types;
  Query rows = db.query(Sql::list_run_types);
  while (rows.next()) {
    RunTypeRow row;
    row.type = rows.text(0);
    row.lease = length_at(rows, 1);
    row.attempts_max = count_at(rows, 2);
    row.backoff = length_at(rows, 3);
    row.cap = length_at(rows, 4);
    row.paused = rows.integer(5) != 0;
    row.concurrency = count_at(rows, 6);
    row.rate = count_at(rows, 7);
    row.rate_window = Duration::of_ms(rows.integer(8));
    row.limit_key = rows.text(9);
    types.push_back(std::move(row));
  }
  return types;
}

}  // namespace

const std::map<std::string, RunTypeRow>& SqliteStore::run_types() {
  if (run_types_) return *run_types_;
  std::map<std::string, RunTypeRow> read;
  for (RunTypeRow& row : read_run_types(*writer_)) read.emplace(row.type, std::move(row));
  // If the rows cannot be read, the rules are unknown. The caller's transaction then fails with the same error.
  static const std::map<std::string, RunTypeRow> none;
  if (writer_->error()) return none;
  return run_types_.emplace(std::move(read));
}

bool SqliteStore::limits_concurrency(const std::string& type) {
  const auto& rules = run_types();
  const auto found = rules.find(type);
  return found != rules.end() && found->second.concurrency.has_value();
}

Result<void> SqliteStore::put_run_type(const RunTypeRow& row) {
  {
    const std::lock_guard lock(writer_mutex_);
    if (auto refused = refusal()) return *refused;
    Transaction transaction(*writer_);
    std::optional<std::int64_t> attempts, concurrency, rate;
    if (row.attempts_max) attempts = *row.attempts_max;
    if (row.concurrency) concurrency = *row.concurrency;
    if (row.rate) rate = *row.rate;
    writer_->run(Sql::put_run_type, row.type, ms_of(row.lease), attempts, ms_of(row.backoff), ms_of(row.cap),
                 row.paused, concurrency, rate, row.rate_window.ms_up(), text_or_null(row.limit_key));
    if (auto done = transaction.commit(); !done) return failed(done.error());
    run_types_.reset();
  }
  // Runs that were paused or over a limit may be available now.
  Wakeup wakeup;
  wakeup.runs = true;
  tell(wakeup);
  return {};
}

Result<bool> SqliteStore::remove_run_type(const std::string& type) {
  bool removed = false;
  {
    const std::lock_guard lock(writer_mutex_);
    if (auto refused = refusal()) return *refused;
    Transaction transaction(*writer_);
    removed = writer_->run(Sql::remove_run_type, type) == 1;
    if (auto done = transaction.commit(); !done) return failed(done.error());
    run_types_.reset();
  }
  Wakeup wakeup;
  wakeup.runs = removed;
  tell(wakeup);
  return removed;
}

Result<std::vector<RunTypeRow>> SqliteStore::list_run_types() {
  Reader db = reader();
  auto types = read_run_types(*db);
  return db.give(std::move(types));
}

}  // namespace cairn
