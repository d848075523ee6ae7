// Time zones from the system's tz database, read once and kept. Fixed offsets need no database.
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

  // An IANA name (Europe/Berlin), UTC, or an offset: +02:00, -09:30, 02:00. Nothing when unknown.
  // Safe from several threads.
  static std::optional<TimeZone> find(std::string_view name);

  // Seconds to add to UTC at an instant (seconds since 1970).
  std::int32_t offset_at(std::int64_t utc_seconds) const;
  // The instant of a wall clock reading, given as seconds as if it were UTC. A reading that comes
  // twice is the earlier instant; one that is skipped moves on by the length of the gap.
  std::int64_t to_utc(std::int64_t local_seconds) const;

  struct Data;

 private:
  std::shared_ptr<const Data> data_;  // shared with the cache; none for a fixed offset
  std::int32_t fixed_offset_ = 0;
};

// `2024a`, or empty when the database does not say.
const std::string& time_zone_version();

}  // namespace cairn
