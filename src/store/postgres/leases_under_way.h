// What questions for runs that this node has under way have leased and not committed yet: a stretch of the queue each.
// The next question passes over it, where it would otherwise look at every run and find it locked. Nothing depends on
// it: a run that is passed over in vain is found by the question after. Safe from several threads.
#pragma once

#include <list>
#include <mutex>
#include <optional>
#include <string>

#include "base/time.h"

namespace cairn::postgres {

// The place of a run in the queue of its type.
struct QueueKey {
  std::int64_t priority = 0;
  Timestamp run_at;
  std::int64_t number = 0;
};

class LeasesUnderWay {
 public:
  struct Stretch {
    std::string type;
    QueueKey first, last;
  };

  // Ends with the transaction, however that ends.
  class Guard {
   public:
    Guard() = default;
    Guard(LeasesUnderWay& all, std::list<Stretch>::iterator at) : all_(&all), at_(at) {}
    Guard(Guard&& other) noexcept : all_(std::exchange(other.all_, nullptr)), at_(other.at_) {}
    Guard& operator=(Guard&& other) noexcept {
      std::swap(all_, other.all_);
      std::swap(at_, other.at_);
      return *this;
    }
    ~Guard() {
      if (all_) all_->end(at_);
    }

   private:
    LeasesUnderWay* all_ = nullptr;
    std::list<Stretch>::iterator at_;
  };

  Guard begin(Stretch stretch) {
    const std::lock_guard lock(mutex_);
    return {*this, stretches_.insert(stretches_.end(), std::move(stretch))};
  }
  // The newest one: there are rarely two.
  std::optional<Stretch> of(const std::string& type) const {
    const std::lock_guard lock(mutex_);
    for (auto at = stretches_.rbegin(); at != stretches_.rend(); ++at) {
      if (at->type == type) return *at;
    }
    return std::nullopt;
  }

 private:
  void end(std::list<Stretch>::iterator at) {
    const std::lock_guard lock(mutex_);
    stretches_.erase(at);
  }

  mutable std::mutex mutex_;
  std::list<Stretch> stretches_;
};

}  // namespace cairn::postgres
