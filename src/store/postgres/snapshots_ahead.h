// Snapshots that were read together because they will be asked for one by one: those of the timers that a thread has
// just taken. Only that thread is given them, each once. One that has moved on meanwhile is no matter to
// it: what it decides is refused by the version, and the second time it reads.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace cairn::postgres {

class SnapshotsAhead {
 public:
  // For this thread, in place of what was there.
  void put(std::map<std::string, std::string> snapshots) {
    const std::lock_guard lock(mutex_);
    thread_ = std::this_thread::get_id();
    snapshots_ = std::move(snapshots);
    empty_ = snapshots_.empty();
  }
  std::optional<std::string> take(const std::string& instance) {
    if (empty_) return std::nullopt;
    const std::lock_guard lock(mutex_);
    if (thread_ != std::this_thread::get_id()) return std::nullopt;
    auto found = snapshots_.extract(instance);
    empty_ = snapshots_.empty();
    if (!found) return std::nullopt;
    return std::move(found.mapped());
  }
  // It was written by this process.
  void drop(const std::string& instance) {
    if (empty_) return;
    const std::lock_guard lock(mutex_);
    snapshots_.erase(instance);
    empty_ = snapshots_.empty();
  }
  void clear() { put({}); }

 private:
  std::mutex mutex_;
  std::atomic<bool> empty_ = true;
  std::thread::id thread_;
  std::map<std::string, std::string> snapshots_;
};

}  // namespace cairn::postgres
