// Computes when a schedule fires. These are pure functions: the same schedule and the same instant give the same times
// everywhere.
//
// `cron` uses the wall clock of its zone, and each wall-clock time fires once. A time that the zone skips fires at the
// first valid instant after the gap; a time that occurs twice fires at its first occurrence. Intervals ignore zones:
// they are exact multiples counted from their start and never drift.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "schedule/schedule.h"

namespace cairn {

// The first time after `after`; empty if there is none. `from` of an interval must be set.
std::optional<Timestamp> next_time(const Schedule& schedule, Timestamp after);
std::vector<Timestamp> next_times(const Schedule& schedule, Timestamp after, std::size_t count);

// The actual time of the firing scheduled for `at`: `at` plus its jitter, always before the next scheduled time.
// Firings therefore keep their order, and no jitter is so long that a firing is lost.
Timestamp with_jitter(const Schedule& schedule, std::string_view name, Timestamp at);

// What to do with a schedule whose times up to `handled_until` were handled.
struct Due {
  std::optional<Timestamp> fire;  // fire this one now
  Timestamp handled_until;        // everything up to here is handled after that
  std::optional<Timestamp> next;  // when to look again, with jitter; empty: never
};
// Times that are late by at most `catch_up` are fired late, in order. Of older times only the last is fired, and only
// if it is less than one minute late: that is a slow node, not a missed firing.
Due due_time(const Schedule& schedule, std::string_view name, Timestamp handled_until, Timestamp now);

}  // namespace cairn
