// Where time comes from. Everything that needs the time is handed a Clock.
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
};

class SystemClock final : public Clock {
 public:
  Timestamp now() override;
};

// The system's time for an engine, which lives by differences of times. When the system's clock is set back, this one
// goes on at 99 % of its pace until they agree again: what was due in a minute is still due in a minute. When it is set
// forward, this one follows at once.
class ForwardClock final : public Clock {
 public:
  struct Reading {
    std::int64_t wall_ns = 0;     // since 1970
    std::int64_t elapsed_ns = 0;  // since some instant, never back, also while the machine sleeps
  };
  ForwardClock();
  explicit ForwardClock(std::function<Reading()> read) : read_(std::move(read)) {}
  Timestamp now() override;

 private:
  std::function<Reading()> read_;
  std::mutex mutex_;
  std::int64_t now_ns_ = INT64_MIN;  // what was said last
  std::int64_t elapsed_ns_ = 0;      // when that was
};

// Stands still until it is moved: tests, `cairn run`, the simulation.
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
