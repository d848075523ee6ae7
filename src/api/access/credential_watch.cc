#include "api/access/credential_watch.h"

#include <vector>

#include "base/log.h"

namespace cairn::api {

CredentialWatch::~CredentialWatch() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

std::shared_ptr<void> CredentialWatch::add(std::function<bool()> accepted, std::function<void()> end) {
  std::uint64_t number = 0;
  {
    const std::scoped_lock lock(entries_->mutex);
    number = ++entries_->last;
    entries_->by_number[number] = std::make_shared<const Entry>(Entry{std::move(accepted), std::move(end)});
    if (!thread_.joinable()) {
      thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
    } else if (entries_->by_number.size() == 1) {
      entries_->changed.notify_all();
    }
  }
  return {nullptr, [entries = entries_, number](void*) {
            std::shared_ptr<const Entry> removed;  // destroyed outside the mutex
            const std::scoped_lock lock(entries->mutex);
            const auto found = entries->by_number.find(number);
            if (found == entries->by_number.end()) return;
            removed = std::move(found->second);
            entries->by_number.erase(found);
          }};
}

void CredentialWatch::run(const std::stop_token& stop) {
  Entries& entries = *entries_;
  std::unique_lock lock(entries.mutex);
  while (!stop.stop_requested()) {
    entries.changed.wait(lock, stop, [&entries] { return !entries.by_number.empty(); });
    entries.changed.wait_for(lock, stop, pause_, [] { return false; });
    if (stop.stop_requested()) return;
    std::vector<std::shared_ptr<const Entry>> looked_at;
    looked_at.reserve(entries.by_number.size());
    for (const auto& entry : entries.by_number) looked_at.push_back(entry.second);
    lock.unlock();
    std::size_t ended = 0;
    for (const auto& entry : looked_at) {
      if (entry->accepted()) continue;
      entry->end();
      ++ended;
    }
    looked_at.clear();
    if (ended > 0) log_info("auth.revoked_connections_ended", {{"connections", static_cast<std::int64_t>(ended)}});
    lock.lock();
  }
}

}  // namespace cairn::api
