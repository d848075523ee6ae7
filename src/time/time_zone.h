// src/time holds calendar time: zones, calendar arithmetic, cron expressions, date patterns and the watch on the system
// clock. It uses src/base only, which has the instants and durations themselves (base/time.h). It knows nothing of
// expressions, schedules or stores, which all use it. Read TimeZone::find first, then calendar.h and cron.h.
//
// Time zones come from the system's tz database. Each zone is read once and cached. Fixed offsets need no database.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace cairn {

class TimeZone {
 public:
  TimeZone() = default;  // UTC

  // Accepts an IANA name (Europe/Berlin), UTC, or an offset: +02:00, -09:30, 02:00. Empty if the zone is unknown. Safe
  // from several threads.
  static std::optional<TimeZone> find(std::string_view name);

  // The seconds to add to UTC at an instant (seconds since 1970).
  std::int32_t offset_at(std::int64_t utc_seconds) const;
  // The instant of a wall clock reading, which is given in seconds as if it were UTC. A reading that occurs twice gives
  // the earlier instant. A skipped reading moves forward by the length of the gap.
  std::int64_t to_utc(std::int64_t local_seconds) const;

  struct Data;

 private:
  std::shared_ptr<const Data> data_;  // shared with the cache; none for a fixed offset
  std::int32_t fixed_offset_ = 0;
};

// The version of the tz database, such as `2024a`; empty if the database does not tell it.
const std::string& time_zone_version();

}  // namespace cairn
