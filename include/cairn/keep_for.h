// How long finished and old rows are kept. An absent period: for ever.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"

namespace cairn {

struct KeepFor {
  static constexpr Duration days(std::int64_t count) { return Duration::of_seconds(count * 86'400); }

  // Ended instances, by status. They are business data, so only their owner decides when they go.
  std::optional<Duration> completed;
  std::optional<Duration> failed;
  std::optional<Duration> cancelled;
  std::optional<Duration> runs = days(30);          // finished runs without an instance
  std::optional<Duration> deleted_runs = days(7);   // deleted runs without an instance
  std::optional<Duration> run_events = days(30);    // events of runs; the runs stay
  std::optional<Duration> dead_letters = days(90);  // those without an open instance
  std::optional<Duration> outbox = days(30);        // published events
  std::optional<Duration> keys = days(7);           // idempotency keys
  std::optional<Duration> audit;  // audit rows, which are exported first (EngineOptions::audit_folder)
  // Open work that nothing has changed for so long is ended. A task fails its step (`timeout`, `task_stale`); an
  // instance is cancelled.
  std::optional<Duration> stale_tasks;
  std::optional<Duration> stale_instances;
};

}  // namespace cairn
