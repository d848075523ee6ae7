#include "engine/pass_signal_on.h"

#include <algorithm>

#include "engine/message_body.h"
#include "store/projection.h"

namespace cairn {

void pass_signal_on(Decision& decision, const Message& message) {
  Unit& unit = decision.slice.unit;
  const Snapshot& rested = decision.slice.last();
  CorrelatedSignal signal = signal_of(message.body);
  const bool ended = decision.slice.stale();
  const bool left = !ended && rested.status != Status::suspended && message.body["alone"] == Json(true) &&
                    std::any_of(rested.signals.begin(), rested.signals.end(),
                                [&](const BufferedSignal& kept) { return kept.id == signal.id; });
  if (!ended && !left) return;
  if (ended) unit.inbox.reset();
  // The signal keeps its original time to live. If that is over, the copy that the instance keeps becomes a dead
  // letter.
  if (left && signal.ttl) {
    const Timestamp until = after(message.at, *signal.ttl);
    if (until <= rested.changed_at) return;
    signal.ttl = between(rested.changed_at, until);
  }
  unit.signals = {std::move(signal)};
}

}  // namespace cairn
