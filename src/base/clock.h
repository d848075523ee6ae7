// The source of time. Code that needs the time receives a Clock.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>

#include "base/time.h"

namespace cairn {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Timestamp now() = 0;  // safe from several threads
  // The last time of an earlier process: a clock that is behind continues there. Most clocks ignore it.
  virtual void continue_from(Timestamp) {}
};

class SystemClock final : public Clock {
 public:
  Timestamp now() override;
};

// The system clock for an engine, which works with differences between times. If the system clock is set back, this
// clock runs at 99 % speed until both agree. A timer due in one minute stays due in one minute. If the system clock is
// set forward, this clock follows at once. The same holds if the system clock was set back while no process ran and the
// store knows the last time (`continue_from`).
class ForwardClock final : public Clock {
 public:
  struct Reading {
    std::int64_t wall_ns = 0;     // since 1970
    std::int64_t elapsed_ns = 0;  // since a fixed instant; never goes back; also counts while the machine sleeps
  };
  ForwardClock();
  explicit ForwardClock(std::function<Reading()> read) : read_(std::move(read)) {}
  Timestamp now() override;
  void continue_from(Timestamp last) override;

 private:
  std::function<Reading()> read_;
  std::mutex mutex_;
  std::int64_t now_ns_ = INT64_MIN;  // the last answer
  std::int64_t elapsed_ns_ = 0;      // when that was read
};

// A clock that only its owner moves. For tests, `cairn run` and the simulation.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(Timestamp start) : now_(start) {}
  Timestamp now() override;
  void set(Timestamp at);
  void advance(Duration by);  // stops at the end of time

 private:
  std::mutex mutex_;
  Timestamp now_;
};

}  // namespace cairn
