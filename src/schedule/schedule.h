// src/schedule starts instances and runs by the clock. A Schedule says what starts and when; next_time.h computes its
// times, and schedules.h stores schedules and fires them. The module uses base, time, store and engine. Read
// `fire_schedules` in schedules.cc first. A schedule is read from and written to this JSON, which users send and a
// ScheduleRow holds:
//
//   cron or every    5 or 6 fields, or the time between two firings
//   zone             IANA name of the zone for `cron`; default UTC
//   from, until      no firing before or after; intervals are counted from `from`
//   overlap          skip (default), queue, allow, cancel_other: what happens while the previous one still runs
//   catch_up         how late a missed firing may still be fired
//   jitter           delays each firing by up to this much; the same delay for the same firing on every node
//   start            {definition, version, input, reference}: an instance; or
//   run              {type, payload, priority, max_attempts}: a run
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "time/cron.h"
#include "time/time_zone.h"

namespace cairn {

struct ScheduledStart {
  std::string definition;
  std::optional<std::string> version;  // empty: the newest version at each firing
  Json input = Json::object();
  Json reference;                       // null: the reference of the definition
  std::optional<std::size_t> declared;  // the index of a schedule declared by the definition: its input is evaluated
};
struct ScheduledRun {
  std::string type;
  Json payload;
  std::int64_t priority = 0;
  int attempts_max = 3;
};

struct Schedule {
  enum class Overlap { skip, queue, allow, cancel_other };
  using Start = ScheduledStart;
  using Run = ScheduledRun;

  std::optional<Cron> cron;  // exactly one of cron and every
  std::optional<Duration> every;
  std::string zone_name = "UTC";
  TimeZone zone;
  std::optional<Timestamp> from;
  std::optional<Timestamp> until;
  Overlap overlap = Overlap::skip;
  Duration catch_up;
  Duration jitter;
  std::variant<Start, Run> what;
};

const char* to_string(Schedule::Overlap overlap);
std::optional<Schedule::Overlap> overlap_from(std::string_view text);

// ErrorCode::invalid gives the mistake and its place, such as `/cron: …`.
Result<Schedule> read_schedule(const Json& spec);
// Writes the canonical form: durations as ISO 8601, defaults included.
Json write_schedule(const Schedule& schedule);

// Dotted like a definition's name, at most 150 characters: it is part of the ids of what it starts.
std::optional<Error> check_schedule_name(std::string_view name);

// The id of what the firing for `at` starts. It is the same on every node and for every retry.
std::string firing_id(std::string_view schedule, Timestamp at);
// The id of what a manual trigger with this key starts. It is the same for every repeat.
std::string trigger_id(std::string_view schedule, std::string_view key);
// The schedule name in such an id; empty for other ids.
std::optional<std::string> schedule_of(std::string_view id);

}  // namespace cairn
