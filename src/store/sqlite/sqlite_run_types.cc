#include "store/sqlite/reader.h"
#include "store/sqlite/row_reading.h"

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

}  // namespace

const std::map<std::string, RunTypeRow>& SqliteStore::run_types() {
  if (run_types_) return *run_types_;
  std::map<std::string, RunTypeRow> read;
  for (RunTypeRow& row : sql::read_run_types(writer_->query(Sql::list_run_types)))
    read.emplace(row.type, std::move(row));
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
  auto types = sql::read_run_types(db->query(Sql::list_run_types));
  return db.give(std::move(types));
}

}  // namespace cairn
