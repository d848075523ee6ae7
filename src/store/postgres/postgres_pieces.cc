// Pieces: large values apart from their snapshots (instance/pieces.h). Commits write them (commit/piece_writes.h).
#include "store/postgres/wire/row_reading.h"
#include "store/postgres/wire/transaction.h"

namespace cairn {

using postgres::Rows;
using postgres::Sql;

void PostgresStore::keep_apart(std::size_t piece_bytes_min) { traits_.piece_bytes_min = piece_bytes_min; }

Result<std::vector<std::string>> PostgresStore::list_pieces(const InstanceId& id) {
  return read<std::vector<std::string>>([&](Connection& db) -> Result<std::vector<std::string>> {
    std::vector<std::string> hashes;
    Rows rows = db.query(Sql::list_pieces, id.value);
    while (rows.next()) hashes.push_back(rows.text(0));
    return hashes;
  });
}

Result<std::vector<PieceFault>> PostgresStore::piece_faults(std::size_t max) {
  return read<std::vector<PieceFault>>([&](Connection& db) -> Result<std::vector<PieceFault>> {
    std::vector<PieceFault> faults;
    Rows rows = db.query(Sql::piece_faults, static_cast<std::int64_t>(max));
    while (rows.next()) faults.push_back({rows.text(0), rows.text(1)});
    return faults;
  });
}

Result<std::size_t> PostgresStore::collect_pieces(std::size_t max) {
  return write<std::size_t>([&](Connection& db) -> Result<std::size_t> {
    Rows rows = db.query(Sql::collect_pieces, static_cast<std::int64_t>(max));
    return rows.next() ? static_cast<std::size_t>(rows.integer(0)) : 0;
  });
}

}  // namespace cairn
