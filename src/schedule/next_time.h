// When a schedule fires. Pure functions: the same schedule and the same instant give the same times everywhere.
//
// `cron` is read on the wall clock of its zone, and each reading counts once: one that the zone skips fires at the
// first valid instant after the gap, one that it has twice fires at the first of the two. Intervals do not know
// zones: they are exact multiples counted from their beginning and never drift.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "schedule/schedule.h"

namespace cairn {

// The first time after `after`; nothing when there is none. `from` of an interval must be set.
std::optional<Timestamp> next_time(const Schedule& schedule, Timestamp after);
std::vector<Timestamp> next_times(const Schedule& schedule, Timestamp after, std::size_t count);

// When the firing that is meant for `at` really happens: `at` and its share of the jitter, always before the next one
// is meant to happen. So firings keep their order, and a jitter longer than the period loses none.
Timestamp with_jitter(const Schedule& schedule, std::string_view name, Timestamp at);

// What to do about a schedule whose times up to `settled` have been dealt with.
struct Due {
  std::optional<Timestamp> fire;  // this one, now
  Timestamp settled;              // everything up to here is dealt with once it has been fired
  std::optional<Timestamp> next;  // when to look again, with jitter; nothing: never
};
// A time that is late by no more than `catch_up` is made up for, in order. Of older ones only the last is, and only
// when it is less than a minute late: that is a slow node, not a missed firing.
Due due_time(const Schedule& schedule, std::string_view name, Timestamp settled, Timestamp now);

}  // namespace cairn
