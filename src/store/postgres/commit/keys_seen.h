// How far the last scan of a limited type got among its limit keys. If a type has more keys than one scan visits, scans
// take turns. Correctness does not depend on it. Safe from several threads.
#pragma once

#include <map>
#include <mutex>
#include <string>

namespace cairn::postgres {

class KeysSeen {
 public:
  // Empty: start at the first key.
  std::string of(const std::string& type) const {
    const std::lock_guard lock(mutex_);
    const auto found = last_.find(type);
    return found == last_.end() ? std::string() : found->second;
  }
  void set(const std::string& type, const std::string& key) {
    const std::lock_guard lock(mutex_);
    if (key.empty()) {
      last_.erase(type);
    } else {
      last_[type] = key;
    }
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> last_;
};

}  // namespace cairn::postgres
