// Pieces: large values apart from their snapshots (instance/pieces.h). There is one writer, so the commit that removes
// the last use of a piece removes the piece.
#include <algorithm>

#include "store/sqlite/reader.h"

namespace cairn {

using sqlite::Query;
using sqlite::Sql;

void SqliteStore::keep_apart(std::size_t piece_bytes_min) { traits_.piece_bytes_min = piece_bytes_min; }

Result<std::map<std::string, std::string>> SqliteStore::read_pieces(sqlite::Connection& db,
                                                                    const std::vector<std::string>& hashes) const {
  std::map<std::string, std::string> texts;
  for (const std::string& hash : hashes) {
    {
      Query row = db.query(Sql::find_piece, hash);
      if (row.next()) texts.emplace(hash, row.text(0));
    }
    if (db.error()) return with_context(*db.error(), "its piece " + hash);
  }
  return texts;
}

// In the transaction that writes the snapshot: both or neither are written.
void SqliteStore::change_pieces(std::int64_t instance, const PieceChanges& changes) {
  for (const PieceChanges::Text& added : changes.added) {
    writer_->run(Sql::insert_piece, added.hash, added.text);
    writer_->run(Sql::use_piece, instance, added.hash);
    maybe_pieces_ = true;
  }
  std::vector<std::string> dropped = changes.dropped;
  if (changes.all) {
    Query rows = writer_->query(Sql::pieces_of, instance);
    while (rows.next()) {
      std::string hash = rows.text(0);
      const auto is_it = [&](const PieceChanges::Text& added) { return added.hash == hash; };
      if (std::none_of(changes.added.begin(), changes.added.end(), is_it)) dropped.push_back(std::move(hash));
    }
  }
  for (const std::string& hash : dropped) {
    writer_->run(Sql::drop_piece_use, instance, hash);
    writer_->run(Sql::remove_piece, hash);
  }
}

Result<std::vector<std::string>> SqliteStore::list_pieces(const InstanceId& id) {
  Reader db = reader();
  std::vector<std::string> hashes;
  {
    Query number = db->query(Sql::instance_number, id.value);
    if (number.next()) {
      Query rows = db->query(Sql::pieces_of, number.integer(0));
      while (rows.next()) hashes.push_back(rows.text(0));
    }
  }
  return db.give(std::move(hashes));
}

Result<std::vector<PieceFault>> SqliteStore::piece_faults(std::size_t max) {
  Reader db = reader();
  std::vector<PieceFault> faults;
  {
    Query rows = db->query(Sql::piece_faults, static_cast<std::int64_t>(max));
    while (rows.next()) faults.push_back({rows.text(0), rows.text(1)});
  }
  return db.give(std::move(faults));
}

Result<std::size_t> SqliteStore::collect_pieces(std::size_t) { return std::size_t{0}; }

}  // namespace cairn
