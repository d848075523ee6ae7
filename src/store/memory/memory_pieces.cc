// Pieces: large values apart from their snapshots (instance/pieces.h).
#include <algorithm>
#include <iterator>

#include "store/memory/memory_store.h"

namespace cairn {

void MemoryStore::keep_apart(std::size_t piece_bytes_min) {
  traits_.piece_bytes_min = piece_bytes_min;
  traits_.keeps_encoded = piece_bytes_min > 0;
  keeps_heads_ |= piece_bytes_min > 0;
}

// Encoded texts are kept only if large values are apart: otherwise the snapshots themselves are the store.
void MemoryStore::keep_text(const Unit& unit) {
  std::map<std::string_view, std::size_t> last;
  for (std::size_t i = 0; i < unit.advances.size(); ++i) {
    const Advance& advance = unit.advances[i];
    if (advance.outcome == Advance::Outcome::applied) last[advance.after.instance.value] = i;
  }
  for (const auto& [id, i] : last) {
    Instance& instance = instances_.find(std::string(id))->second;
    if (i < unit.encoded.size() && !unit.encoded[i].empty()) {
      if (const PieceChanges* const changes = unit.pieces_of(i)) change_pieces(instance.number, *changes);
      instance.head = unit.encoded[i];
    } else {
      ApartSnapshot apart = encode_apart(unit.advances[i].after, traits_.piece_bytes_min, std::nullopt);
      change_pieces(instance.number, apart.changes);
      instance.head = std::move(apart.head);
    }
  }
}

void MemoryStore::change_pieces(std::int64_t instance, const PieceChanges& changes) {
  for (const PieceChanges::Text& added : changes.added) {
    StoredPiece& piece = pieces_[added.hash];
    piece.text = added.text;
    piece.users.insert(instance);
  }
  const auto is_added = [&](const std::string& hash) {
    return std::any_of(changes.added.begin(), changes.added.end(),
                       [&](const PieceChanges::Text& added) { return added.hash == hash; });
  };
  const auto is_dropped = [&](const std::string& hash) {
    return changes.all ? !is_added(hash)
                       : std::binary_search(changes.dropped.begin(), changes.dropped.end(), hash);
  };
  for (auto piece = pieces_.begin(); piece != pieces_.end();) {
    std::set<std::int64_t>& users = piece->second.users;
    const bool last = is_dropped(piece->first) && users.erase(instance) > 0 && users.empty();
    piece = last ? pieces_.erase(piece) : std::next(piece);
  }
}

Result<std::vector<std::string>> MemoryStore::list_pieces(const InstanceId& id) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> hashes;
  const auto found = instances_.find(id.value);
  if (found == instances_.end()) return hashes;
  for (const auto& [hash, piece] : pieces_) {
    if (piece.users.contains(found->second.number)) hashes.push_back(hash);
  }
  return hashes;
}

Result<std::vector<PieceFault>> MemoryStore::piece_faults(std::size_t max) {
  const std::lock_guard lock(mutex_);
  std::vector<PieceFault> faults;
  for (const auto& [hash, piece] : pieces_) {
    if (piece.users.empty()) faults.push_back({hash, "no instance uses it"});
    for (const std::int64_t user : piece.users) {
      if (!instance_order_.contains(user)) faults.push_back({hash, "an instance that does not exist uses it"});
    }
    if (faults.size() >= max) break;
  }
  if (faults.size() > max) faults.resize(max);
  return faults;
}

// Every commit removes what it leaves without a use.
Result<std::size_t> MemoryStore::collect_pieces(std::size_t) { return std::size_t{0}; }

}  // namespace cairn
