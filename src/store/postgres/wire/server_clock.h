// The server's clock as this process knows it. It is read from time to time and continued with the monotonic clock, so
// a jump of this machine's clock has no effect. Safe from several threads.
#pragma once

#include <chrono>
#include <mutex>

#include "base/clock.h"

namespace cairn::postgres {

class ServerClock final : public Clock {
 public:
  Timestamp now() override;
  // `server` was read between the two instants.
  void set(Timestamp server, std::chrono::steady_clock::time_point asked,
           std::chrono::steady_clock::time_point answered);
  // Whether it is time to read the server's clock again.
  bool wants_reading();

 private:
  std::mutex mutex_;
  Timestamp server_;
  std::chrono::steady_clock::time_point at_;
  bool known_ = false;
};

}  // namespace cairn::postgres
