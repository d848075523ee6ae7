// The clock of `cairn dev`: the system's clock, moved forward by the user. The offset is stored in a file next to the
// store, so that time does not go back after a restart.
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
  void continue_from(Timestamp last) override;
  // Seconds ahead of the system clock. Never decreases.
  void move_to(std::int64_t ahead);
  std::int64_t ahead() const { return ahead_.load(); }

 private:
  ForwardClock system_;
  std::atomic<std::int64_t> ahead_ = 0;
};

// Seconds; 0 if the file does not exist. ErrorCode::invalid for other content.
Result<std::int64_t> read_dev_clock(const std::string& file);
Result<void> write_dev_clock(const std::string& file, std::int64_t ahead);

}  // namespace cairn::cli
