// Where time comes from. Everything that needs the time is handed a Clock.
#pragma once

#include <mutex>

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
