#include "outbox/batch_keeper.h"

#include <algorithm>

#include "base/log.h"

namespace cairn {

BatchKeeper::BatchKeeper(OutboxStore& store, HostLock lock, std::string sink, std::vector<std::int64_t> events,
                         Terms terms)
    : store_(store),
      lock_(std::move(lock)),
      sink_(std::move(sink)),
      events_(std::move(events)),
      terms_(terms),
      thread_([this] { run(); }) {}

bool BatchKeeper::finish() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
  return !lost_;
}

void BatchKeeper::run() {
  const std::chrono::milliseconds pause(std::max<std::int64_t>(1, terms_.lock.ms_up() / 3));
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, pause, [this] { return done_; })) {
    lock.unlock();
    lost_ = !extend();
    if (lost_) return log_warning("outbox.lock_lost", {{"owner", lock_.owner}});
    lock.lock();
  }
}

// The lock comes first: a node without the lock must not extend claims that another node may hold.
bool BatchKeeper::extend() {
  const auto held = store_.hold_lock(lock_.name, lock_.owner, terms_.lock);
  if (!held) {
    // The store may recover before the lock expires.
    log_error("outbox.failed", held.error());
    return true;
  }
  if (!*held || (*held)->fence != lock_.fence) return false;
  if (auto kept = store_.hold_outbox(sink_, events_, terms_.hold); !kept) log_error("outbox.failed", kept.error());
  return true;
}

}  // namespace cairn
