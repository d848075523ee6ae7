#include "cli/stop_watchdog.h"

#include <future>
#include <memory>

#include "base/log.h"
#include "base/process_end.h"
#include "cli/exit_code.h"

namespace cairn::cli {
namespace {

// Logs from another thread: if the log has no reader, a write to it never returns.
void log_overdue(std::chrono::milliseconds limit) {
  const auto logged = std::make_shared<std::promise<void>>();
  std::future<void> done = logged->get_future();
  std::thread([logged, limit] {
    log_error("server.stop_overdue",
              {{"waited_ms", static_cast<std::int64_t>(limit.count())},
               {"message",
                "the stop took longer than the drain time; the process ends now. What was acknowledged "
                "is durable, work in progress is repeated as after a crash"}});
    logged->set_value();
  }).detach();
  done.wait_for(std::chrono::seconds(1));
}

}  // namespace

void StopWatchdog::arm(std::chrono::milliseconds limit) {
  thread_ = std::jthread([this, limit] {
    {
      std::unique_lock lock(mutex_);
      if (stopped_.wait_for(lock, limit, [this] { return in_time_; })) return;
    }
    log_overdue(limit);
    end_process(exit_timed_out);
  });
}

StopWatchdog::~StopWatchdog() {
  const std::lock_guard lock(mutex_);
  in_time_ = true;
  stopped_.notify_all();
}

}  // namespace cairn::cli
