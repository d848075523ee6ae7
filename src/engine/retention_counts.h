// Counts what retention has removed or ended on this node since it started, by kind. Safe from several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace cairn {

class RetentionCounts {
 public:
  void add(const std::string& kind, std::size_t removed) {
    const std::lock_guard lock(mutex_);
    counts_[kind] += removed;
  }
  std::map<std::string, std::uint64_t> all() const {
    const std::lock_guard lock(mutex_);
    return counts_;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::uint64_t> counts_;
};

}  // namespace cairn
