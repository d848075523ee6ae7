#include "cli/stop_watchdog.h"

#include "base/log.h"
#include "base/process_end.h"
#include "cli/exit_code.h"

namespace cairn::cli {

StopWatchdog::StopWatchdog(std::chrono::milliseconds limit)
    : thread_([this, limit] {
        std::unique_lock lock(mutex_);
        if (stopped_.wait_for(lock, limit, [this] { return in_time_; })) return;
        log_error("server.stop_overdue",
                  {{"waited_ms", static_cast<std::int64_t>(limit.count())},
                   {"message",
                    "the stop took longer than the drain time; the process ends now. What was acknowledged "
                    "is durable, work in progress is repeated as after a crash"}});
        end_process(exit_timed_out);
      }) {}

StopWatchdog::~StopWatchdog() {
  const std::lock_guard lock(mutex_);
  in_time_ = true;
  stopped_.notify_all();
}

}  // namespace cairn::cli
