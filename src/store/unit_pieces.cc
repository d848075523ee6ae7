// Encodes one snapshot of a unit, with what it changes for the pieces of its instance.
#include <algorithm>

#include "store/unit.h"

namespace cairn {

namespace {

// The version that the first advance of this instance continues from.
std::uint64_t stored_version(const Unit& unit, const InstanceId& instance) {
  const auto first = std::find_if(unit.advances.begin(), unit.advances.end(), [&](const Advance& advance) {
    return advance.outcome != Advance::Outcome::stale && advance.after.instance == instance;
  });
  return first->from_state_version;
}

}  // namespace

void encode_last(Unit& unit, std::size_t i, std::size_t piece_bytes_min) {
  Snapshot& after = unit.advances[i].after;
  const StoredPieces& before = after.pieces;
  const bool known = before.set == nullptr || before.state_version == stored_version(unit, after.instance);
  ApartSnapshot apart =
      encode_apart(after, piece_bytes_min, known ? std::optional(before.set) : std::nullopt);
  unit.encoded[i] = std::move(apart.head);
  if (!apart.changes.empty()) {
    unit.pieces.resize(unit.advances.size());
    unit.pieces[i] = std::move(apart.changes);
  }
  // The next version continues from this one.
  if (apart.uses || before.set) after.pieces = {std::move(apart.uses), after.state_version};
}

}  // namespace cairn
