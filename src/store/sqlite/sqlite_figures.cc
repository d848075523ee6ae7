#include "store/sqlite/reader.h"
#include "store/sqlite/sqlite_store.h"

namespace cairn {

using sqlite::Query;
using sqlite::Sql;

Result<StoreFigures> SqliteStore::figures(std::size_t most, std::size_t names_max) {
  Reader db = reader();
  StoreFigures figures;
  {
    Query row = db->query(Sql::figures, static_cast<std::int64_t>(most), now());
    if (row.next()) {
      int column = 0;
      for (std::size_t* count :
           {&figures.suspended, &figures.failed, &figures.tasks_open, &figures.runs_ready, &figures.runs_leased,
            &figures.messages, &figures.events_unpublished, &figures.dead_letters}) {
        *count = static_cast<std::size_t>(row.integer(column++));
      }
      for (std::optional<Timestamp>* since : {&figures.run_ready_since, &figures.run_leased_since,
                                              &figures.message_since, &figures.event_since, &figures.timer_due_since}) {
        *since = row.time_or_nothing(column++);
      }
    }
  }
  const auto names = static_cast<std::int64_t>(names_max);
  {
    Query row = db->query(Sql::figures_of_definitions, static_cast<std::int64_t>(most), names);
    while (row.next()) {
      const auto active = static_cast<std::size_t>(row.integer(1));
      const auto suspended = static_cast<std::size_t>(row.integer(2));
      if (active + suspended > 0) figures.definitions.push_back({row.text(0), active, suspended});
    }
  }
  {
    Query row = db->query(Sql::figures_of_queues, static_cast<std::int64_t>(most), now(), names);
    while (row.next()) {
      const auto ready = static_cast<std::size_t>(row.integer(1));
      if (ready > 0) figures.queues.push_back({row.text(0), ready, row.time_or_nothing(2)});
    }
  }
  return db.give(std::move(figures));
}

}  // namespace cairn
