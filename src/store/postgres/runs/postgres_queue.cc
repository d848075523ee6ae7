// Checks that the queue agrees with the runs, part by part, so that no statement takes long.
#include <algorithm>

#include "store/postgres/wire/transaction.h"

namespace cairn {

using postgres::RowPlace;
using postgres::Rows;
using postgres::Sql;

namespace {

// A statement takes about a tenth of a second.
constexpr std::int64_t part_runs = 20'000;
constexpr std::int64_t part_pages = 250;  // pages of the table, with about 100 entries each

RowPlace start_of(std::int64_t page) { return {page << 16}; }

}  // namespace

Result<std::vector<QueueFault>> PostgresStore::queue_faults(std::size_t max) {
  std::vector<QueueFault> faults;
  for (std::optional<std::int64_t> last = 0; last && faults.size() < max;) {
    CAIRN_TRY(Rows rows, read<Rows>([&](Connection& db) -> Result<Rows> {
                return db.query(Sql::misqueued_runs, *last, part_runs);
              }));
    last.reset();
    while (rows.next()) {
      if (!rows.is_null(0)) last = rows.integer(0);
      if (rows.is_null(1)) continue;
      faults.push_back(
          {{rows.text(2)}, rows.boolean(1) ? QueueFault::Kind::not_watched : QueueFault::Kind::not_queued});
    }
  }
  CAIRN_TRY(const std::int64_t pages, read<std::int64_t>([&](Connection& db) -> Result<std::int64_t> {
              Rows rows = db.query(Sql::queue_pages);
              return rows.next() ? rows.integer(0) : 0;
            }));
  for (std::int64_t page = 0; page < pages && faults.size() < max; page += part_pages) {
    CAIRN_TRY(Rows rows, read<Rows>([&](Connection& db) -> Result<Rows> {
                return db.query(Sql::stray_entries, start_of(page), start_of(page + part_pages));
              }));
    while (rows.next()) faults.push_back({{rows.text(0)}, QueueFault::Kind::stray});
  }
  faults.resize(std::min(faults.size(), max));
  return faults;
}

}  // namespace cairn
