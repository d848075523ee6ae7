// Any text as the name of a time zone: a zone has offsets within a day, and a name never leads out of the database.
#include "time/time_zone.h"

#include "base/time.h"
#include "input.h"

void fuzz(std::string_view name) {
  using namespace cairn;
  const auto zone = TimeZone::find(name);
  if (!zone) return;
  CAIRN_ASSERT(name.find("..") == std::string_view::npos && !name.starts_with('/') && name.size() <= 64);
  for (const std::int64_t at : {Timestamp::seconds_min, std::int64_t{-1'000'000'000}, std::int64_t{0},
                                std::int64_t{1'700'000'000}, Timestamp::seconds_max}) {
    const std::int32_t offset = zone->offset_at(at);
    CAIRN_ASSERT(std::abs(offset) < 26 * 3600);
    const std::int64_t back = zone->to_utc(at + offset);
    CAIRN_ASSERT(back <= at && back + zone->offset_at(back) == at + offset);
  }
}
