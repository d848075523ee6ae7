#include <algorithm>
#include <iterator>
#include <map>

#include "store/postgres/wire/row_reading.h"
#include "store/postgres/wire/transaction.h"

namespace cairn {

using postgres::Rows;
using postgres::Sql;

Result<StoreFigures> PostgresStore::figures(std::size_t most, std::size_t names_max) {
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
      for (std::optional<Timestamp>* since : {&figures.run_ready_since, &figures.run_leased_since,
                                              &figures.message_since, &figures.event_since, &figures.timer_due_since}) {
        *since = row.time_or_nothing(column++);
      }
    }
    if (row.fault()) return *row.fault();
    const auto names = static_cast<std::int64_t>(names_max);
    row = db.query(Sql::figures_of_definitions, static_cast<std::int64_t>(most), names);
    while (row.next()) {
      const auto active = static_cast<std::size_t>(row.integer(1));
      const auto suspended = static_cast<std::size_t>(row.integer(2));
      if (active + suspended > 0) figures.definitions.push_back({row.text(0), active, suspended});
    }
    if (row.fault()) return *row.fault();
    std::map<std::string, QueueFigures> queues;
    const auto add = [&queues](const std::string& type, std::size_t ready, Timestamp since) {
      QueueFigures& queue = queues[type];
      queue.ready += ready;
      if (!queue.ready_since || since < *queue.ready_since) queue.ready_since = since;
    };
    row = db.query(Sql::figures_of_queues, static_cast<std::int64_t>(most), now(), names);
    while (row.next()) {
      const auto since = row.time_or_nothing(2);
      if (since) add(row.text(0), static_cast<std::size_t>(row.integer(1)), *since);
    }
    if (row.fault()) return *row.fault();
    // The second rows may name further types.
    while (queues.size() - queues.count("") > names_max) {
      const QueueFigures last = queues.extract(std::prev(queues.end())).mapped();
      add("", last.ready, *last.ready_since);
    }
    for (auto& [type, queue] : queues) {
      queue.type = type;
      queue.ready = std::min(queue.ready, most);
      figures.queues.push_back(std::move(queue));
    }
    // All other types together come last.
    if (queues.contains("")) std::rotate(figures.queues.begin(), figures.queues.begin() + 1, figures.queues.end());
    return figures;
  });
}

}  // namespace cairn
