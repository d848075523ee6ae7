// Signals that no instance waits for yet.
#include "store/memory/memory_store.h"
#include "store/projection.h"
#include "store/sql_rows.h"

namespace cairn {

Result<Page<KeptSignal>> MemoryStore::list_signals(const SignalFilter& filter, const PageRequest& request) {
  CAIRN_TRY(const std::int64_t cursor, sql::read_cursor(request.cursor, 0));
  const std::lock_guard lock(mutex_);
  Page<KeptSignal> page;
  for (auto kept = kept_.upper_bound(cursor); kept != kept_.end(); ++kept) {
    const CorrelatedSignal& signal = kept->second.signal;
    if (!filter.name.empty() && signal.name != filter.name) continue;
    if (filter.key && signal.key != Json(*filter.key)) continue;
    if (page.items.size() == request.limit) {
      page.next_cursor = std::to_string(page.items.back().number);
      break;
    }
    page.items.push_back(
        {kept->first, signal.id, signal.name, signal.key, signal.payload, kept->second.at, kept->second.expires_at});
  }
  return page;
}

Result<bool> MemoryStore::discard_signal(std::int64_t number) {
  const std::lock_guard lock(mutex_);
  return kept_.erase(number) == 1;
}

Result<std::size_t> MemoryStore::expire_signals(std::size_t max) {
  Wakeup wakeup;
  std::size_t count = 0;
  {
    const std::lock_guard lock(mutex_);
    const Timestamp at = now();
    for (auto kept = kept_.begin(); kept != kept_.end() && count < max;) {
      const auto [signal, since, until] = kept->second;
      if (!until || *until > at) {
        ++kept;
        continue;
      }
      const KeptSignal expired{kept->first, signal.id, signal.name, signal.key, signal.payload, since, until};
      add_dead_letter(letter_of_expiry(expired), wakeup);
      write_event({}, event_of_expiry(expired, at, events_), wakeup);
      kept = kept_.erase(kept);
      ++count;
    }
  }
  tell(wakeup);
  return count;
}

}  // namespace cairn
