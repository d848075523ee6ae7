// How far the last look at a limited type got among the keys that its limits count by. A type with more keys than one
// look goes through is looked at in turn. Nothing depends on it. Safe from several threads.
#pragma once

#include <map>
#include <mutex>
#include <string>

namespace cairn::postgres {

class KeysSeen {
 public:
  // Empty: from the first one.
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
