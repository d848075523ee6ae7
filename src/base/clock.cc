#include "base/clock.h"

#include <ctime>

namespace cairn {

Timestamp SystemClock::now() {
  timespec at{};
  clock_gettime(CLOCK_REALTIME, &at);
  return {at.tv_sec, static_cast<std::int32_t>(at.tv_nsec)};
}

Timestamp ManualClock::now() {
  const std::scoped_lock lock(mutex_);
  return now_;
}

void ManualClock::set(Timestamp at) {
  const std::scoped_lock lock(mutex_);
  now_ = at;
}

void ManualClock::advance(Duration by) {
  const std::scoped_lock lock(mutex_);
  now_ = add(now_, by).value_or(Timestamp{Timestamp::seconds_max, 0});
}

}  // namespace cairn
