#include "store/unit.h"

#include <algorithm>

namespace cairn {

void encode_ahead(Unit& unit, std::size_t piece_bytes_min) {
  unit.encoded.resize(unit.advances.size());
  for (std::size_t i = 0; i < unit.advances.size(); ++i) {
    const Advance& advance = unit.advances[i];
    if (advance.outcome == Advance::Outcome::stale) continue;
    const bool replaced = std::any_of(
        unit.advances.begin() + static_cast<std::ptrdiff_t>(i) + 1, unit.advances.end(), [&](const Advance& later) {
          return later.outcome != Advance::Outcome::stale && later.after.instance == advance.after.instance;
        });
    if (!replaced) encode_last(unit, i, piece_bytes_min);
  }
}

}  // namespace cairn
