#include "store/postgres/wire/row_reading.h"
#include "store/postgres/wire/transaction.h"

namespace cairn {

using postgres::Rows;
using postgres::Sql;

Result<StoreFigures> PostgresStore::figures(std::size_t most) {
  return read<StoreFigures>([&](Connection& db) -> Result<StoreFigures> {
    Rows row = db.query(Sql::figures, static_cast<std::int64_t>(most), now());
    StoreFigures figures;
    if (row.next()) {
      int column = 0;
      for (std::size_t* count :
           {&figures.suspended, &figures.failed, &figures.tasks_open, &figures.runs_ready, &figures.runs_leased,
            &figures.messages, &figures.events_unpublished, &figures.dead_letters}) {
        *count = static_cast<std::size_t>(row.integer(column++));
      }
      for (std::optional<Timestamp>* since :
           {&figures.run_ready_since, &figures.message_since, &figures.event_since, &figures.timer_due_since}) {
        *since = row.time_or_nothing(column++);
      }
    }
    if (row.fault()) return *row.fault();
    return figures;
  });
}

}  // namespace cairn
