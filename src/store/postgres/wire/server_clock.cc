#include "store/postgres/wire/server_clock.h"

namespace cairn::postgres {

namespace {
// A quartz clock drifts by less than a tenth of a millisecond in this time.
constexpr std::chrono::seconds reading_lasts{1};
}  // namespace

Timestamp ServerClock::now() {
  const std::lock_guard lock(mutex_);
  const auto passed = std::chrono::steady_clock::now() - at_;
  const auto nanos = std::chrono::duration_cast<std::chrono::nanoseconds>(passed).count();
  return add(server_, Duration{nanos / 1'000'000'000, static_cast<std::int32_t>(nanos % 1'000'000'000)})
      .value_or(server_);
}

void ServerClock::set(Timestamp server, std::chrono::steady_clock::time_point asked,
                      std::chrono::steady_clock::time_point answered) {
  const std::lock_guard lock(mutex_);
  server_ = server;
  at_ = asked + (answered - asked) / 2;
  known_ = true;
}

bool ServerClock::wants_reading() {
  const std::lock_guard lock(mutex_);
  return !known_ || std::chrono::steady_clock::now() - at_ > reading_lasts;
}

}  // namespace cairn::postgres
