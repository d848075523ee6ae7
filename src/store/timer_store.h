// Timers of instances, and the next time at which anything is due.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "store/rows.h"
#include "store/store_base.h"

namespace cairn {

class TimerStore : public virtual StoreBase {
 public:
  // A taken timer or message is not handed out again until `hold` has passed or it is given back. Only the unit that it
  // causes removes it. After a crash it is available again at once. The order per instance is preserved: while a
  // message or timer of an instance is held, no later one of the same kind is handed out.
  virtual Result<std::vector<DueTimer>> take_timers(std::size_t max, Duration hold) = 0;
  virtual void give_back(const DueTimer& timer) = 0;
  virtual Result<std::vector<DueTimer>> list_timers(const InstanceId& id) = 0;
  // The earliest instant after `looked_at` at which a timer, a run, the end of a lease, a schedule or a postponed event
  // is due. A caller that checked at `looked_at` misses nothing in between.
  virtual Result<std::optional<Timestamp>> next_due(Timestamp looked_at) = 0;
  Result<std::optional<Timestamp>> next_due() { return next_due(now()); }
};

}  // namespace cairn
