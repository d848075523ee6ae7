// The time that `cairn dev` lives in: the system's, moved forward by hand. How far stands in a file beside the store,
// so that a restart does not go back in time.
#pragma once

#include <atomic>
#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace cairn::cli {

inline constexpr const char* dev_clock_file = ".cairn/clock";

class DevClock final : public Clock {
 public:
  Timestamp now() override;
  // Seconds ahead of the system. Never goes back.
  void move_to(std::int64_t ahead);
  std::int64_t ahead() const { return ahead_.load(); }

 private:
  ForwardClock system_;
  std::atomic<std::int64_t> ahead_ = 0;
};

// Seconds; 0 when there is no such file. ErrorCode::invalid when it holds something else.
Result<std::int64_t> read_dev_clock(const std::string& file);
Result<void> write_dev_clock(const std::string& file, std::int64_t ahead);

}  // namespace cairn::cli
