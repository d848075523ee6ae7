#include "base/clock.h"

#include <algorithm>
#include <ctime>

namespace cairn {

namespace {

constexpr std::int64_t second_ns = 1'000'000'000;

std::int64_t read_ns(clockid_t which) {
  timespec at{};
  clock_gettime(which, &at);
  return at.tv_sec * second_ns + at.tv_nsec;
}

ForwardClock::Reading read_system() { return {read_ns(CLOCK_REALTIME), read_ns(CLOCK_BOOTTIME)}; }

}  // namespace

Timestamp SystemClock::now() {
  timespec at{};
  clock_gettime(CLOCK_REALTIME, &at);
  return {at.tv_sec, static_cast<std::int32_t>(at.tv_nsec)};
}

ForwardClock::ForwardClock() : read_(read_system) {}

Timestamp ForwardClock::now() {
  const std::scoped_lock lock(mutex_);
  const Reading at = read_();
  if (now_ns_ != INT64_MIN) {
    const std::int64_t passed = std::max<std::int64_t>(0, at.elapsed_ns - elapsed_ns_);
    now_ns_ = std::max(at.wall_ns, now_ns_ + passed - passed / 100);
  } else {
    now_ns_ = at.wall_ns;
  }
  elapsed_ns_ = at.elapsed_ns;
  return {now_ns_ / second_ns, static_cast<std::int32_t>(now_ns_ % second_ns)};
}

void ForwardClock::continue_from(Timestamp last) {
  static_cast<void>(now());
  const std::scoped_lock lock(mutex_);
  now_ns_ = std::max(now_ns_, last.seconds * second_ns + last.nanos);
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
