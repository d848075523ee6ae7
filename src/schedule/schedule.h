// A schedule: what starts by the clock, and when. Read from and written to the JSON that people send and that
// stands in a ScheduleRow:
//
//   cron or every    5 or 6 fields, or the time between two firings
//   zone             IANA name in which `cron` is read; UTC
//   from, until      no firing before or after; intervals are counted from `from`
//   overlap          skip (default), queue, allow, cancel_other: what happens while the one before still runs
//   catch_up         how far back firings that were missed are made up for
//   jitter           each firing is up to this much later, the same for the same firing on every node
//   start            {definition, version, input, reference}: an instance; or
//   run              {type, payload, priority, max_attempts}: a run
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "time/cron.h"
#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "time/time_zone.h"

namespace cairn {

struct ScheduledStart {
  std::string definition;
  std::optional<std::string> version;  // absent: the newest at each firing
  Json input = Json::object();
  Json reference;                       // null: the definition's own
  std::optional<std::size_t> declared;  // which of the definition's own schedules: its input is evaluated
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

// ErrorCode::invalid says what is wrong and where, as `/cron: …`.
Result<Schedule> read_schedule(const Json& spec);
// One spelling: durations as ISO 8601, defaults written out.
Json write_schedule(const Schedule& schedule);

// Dotted like a definition's name, at most 150 characters: it is part of the ids of what it starts.
std::optional<Error> check_schedule_name(std::string_view name);

// What the firing for `at` starts is called so, whoever fires it and however often it is tried.
std::string firing_id(std::string_view schedule, Timestamp at);
// What somebody triggered under a key, however often they ask.
std::string trigger_id(std::string_view schedule, std::string_view key);
// The schedule in such an id; nothing when it is no such id.
std::optional<std::string> schedule_of(std::string_view id);

}  // namespace cairn
