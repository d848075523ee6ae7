// Up to where the outbox of a store is complete.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "store/store.h"

namespace cairn {

struct SettledOutbox {
  std::int64_t up_to = std::numeric_limits<std::int64_t>::max();  // no further event appears up to this sequence
  std::optional<Timestamp> open_since;  // when the oldest transaction began that may still add events
};

// A store whose commits may become visible in another order than their sequences.
class OutboxOrder {
 public:
  virtual ~OutboxOrder() = default;
  virtual Result<SettledOutbox> settled_outbox() = 0;
};

// Read rows after the answer, not before. A store that commits in the order of sequences is always complete.
inline Result<SettledOutbox> settled_outbox(Store& store) {
  auto* const order = dynamic_cast<OutboxOrder*>(&store);
  return order != nullptr ? order->settled_outbox() : SettledOutbox{};
}

}  // namespace cairn
