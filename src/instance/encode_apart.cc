// Encodes a snapshot with its large values apart.
#include <algorithm>
#include <iterator>
#include <set>

#include "instance/piece_writer.h"
#include "instance/snapshot.h"

namespace cairn {

namespace {

bool names_the_same(const PieceSet& set, const std::vector<SharedPiece>& named) {
  return std::equal(set.named.begin(), set.named.end(), named.begin(), named.end(),
                    [](const SharedPiece& a, const SharedPiece& b) { return a == b || a->hash == b->hash; });
}

}  // namespace

std::shared_ptr<const PieceSet> set_of(std::vector<SharedPiece> named) {
  auto set = std::make_shared<PieceSet>();
  std::set<std::string_view> known;
  std::vector<const Piece*> unread;
  const auto meet = [&](const SharedPiece& piece) {
    if (!known.insert(piece->hash).second) return;
    set->bytes += piece->bytes;
    unread.push_back(piece.get());
  };
  for (const SharedPiece& piece : named) meet(piece);
  while (!unread.empty()) {
    const Piece* const piece = unread.back();
    unread.pop_back();
    for (const SharedPiece& inside : piece->inside) meet(inside);
  }
  set->hashes.assign(known.begin(), known.end());
  set->named = std::move(named);
  return set;
}

ApartSnapshot encode_apart(const Snapshot& snapshot, std::size_t bytes_min,
                           const std::optional<std::shared_ptr<const PieceSet>>& before) {
  PieceWriter writer(bytes_min, before && *before == nullptr);
  ApartSnapshot result;
  result.head = encode_snapshot(snapshot, &writer);
  const std::shared_ptr<const PieceSet> known = before.value_or(nullptr);
  const std::vector<std::string> none;
  const std::vector<std::string>& had = known ? known->hashes : none;
  result.changes.all = !before;
  if (!writer.has_places()) {
    result.changes.dropped = had;
    return result;
  }
  // Rare: the text has places, and user data that looks like one.
  if (writer.wrote_lookalike()) {
    writer.escape_from_now();
    result.head = encode_snapshot(snapshot, &writer);
  }
  std::vector<SharedPiece> named = writer.named();
  if (known && names_the_same(*known, named)) {
    result.uses = known;
    return result;
  }
  result.uses = set_of(std::move(named));
  std::vector<std::string> added;
  std::set_difference(result.uses->hashes.begin(), result.uses->hashes.end(), had.begin(), had.end(),
                      std::back_inserter(added));
  std::set_difference(had.begin(), had.end(), result.uses->hashes.begin(), result.uses->hashes.end(),
                      std::back_inserter(result.changes.dropped));
  result.changes.added = writer.texts_of(added);
  return result;
}

}  // namespace cairn
