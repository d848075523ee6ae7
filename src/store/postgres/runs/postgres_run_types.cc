// The settings of run types. Leasing obeys them (postgres_lease.cc).
#include "store/postgres/postgres_store.h"
#include "store/postgres/wire/row_reading.h"
#include "store/postgres/wire/transaction.h"

namespace cairn {

using postgres::Sql;

Result<void> PostgresStore::put_run_type(const RunTypeRow& row) {
  const auto ms = [](const std::optional<Duration>& length) {
    return length ? std::optional(length->ms_up()) : std::nullopt;
  };
  CAIRN_TRY_VOID(write<bool>([&](Connection& db) -> Result<bool> {
    db.send(Sql::put_run_type, row.type, ms(row.lease), row.attempts_max, ms(row.backoff), ms(row.cap), row.paused,
            row.concurrency, row.rate, row.rate_window.ms_up(), row.limit_key);
    if (!row.rate) db.send(Sql::purge_starts, row.type, now());  // they are no longer counted
    return true;
  }));
  Wakeup wakeup;
  wakeup.runs = true;  // blocked runs may be available now
  tell(wakeup);
  return {};
}

Result<bool> PostgresStore::remove_run_type(const std::string& type) {
  CAIRN_TRY(const bool removed, write<bool>([&](Connection& db) -> Result<bool> {
              db.send(Sql::purge_starts, type, now());
              return db.query(Sql::remove_run_type, type).changed() == 1;
            }));
  Wakeup wakeup;
  wakeup.runs = removed;
  tell(wakeup);
  return removed;
}

Result<std::vector<RunTypeRow>> PostgresStore::list_run_types() {
  return read<std::vector<RunTypeRow>>([&](Connection& db) -> Result<std::vector<RunTypeRow>> {
    return sql::read_run_types(db.query(Sql::list_run_types));
  });
}

}  // namespace cairn
