// Schedules: what starts by the clock. schedule/ has the rules for the next time. A store only keeps the row and knows
// when it is due.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/json.h"
#include "base/time.h"

namespace cairn {

struct ScheduleRow {
  std::string name;                 // unique
  std::uint64_t state_version = 0;  // incremented by each change; 0: not stored yet
  Json spec;                        // cron or interval, zone, overlap, catch-up, jitter, what to start: schedule/spec.h
  bool paused = false;
  std::optional<Timestamp> next_at;  // absent: it never fires again
  std::optional<Timestamp> last_at;  // every time up to here was fired, skipped or dropped
  Json last;                         // what it started: {at, instance} or {at, run}
  Json queued;                       // firings that wait for the previous one, if the overlap policy queues
  Timestamp created_at;
  Timestamp changed_at;
  bool operator==(const ScheduleRow&) const = default;
};

}  // namespace cairn
