// The ranges of the queue that running lease requests of this node have leased but not committed. The next request
// skips such a range; otherwise it would visit every run and find it locked. Correctness does not depend on it: the
// following request finds a run that was skipped without need. Safe from several threads.
#pragma once

#include <list>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "store/postgres/wire/queue_key.h"

namespace cairn::postgres {

class UncommittedLeases {
 public:
  struct Range {
    std::string type;
    QueueKey first, last;
  };

  // The range of what a request leased, which is in queue order and not empty. It is the longer part on one side of the
  // range that the request itself skipped. Runs that entered that range meanwhile must not be skipped a second time.
  static Range range_of(std::string type, std::span<const QueueKey> leased, const std::optional<Range>& passed_over) {
    std::size_t before = 0;
    while (passed_over && before < leased.size() && leased[before] < passed_over->first) ++before;
    const auto part = 2 * before > leased.size() ? leased.first(before) : leased.subspan(before);
    return {std::move(type), part.front(), part.back()};
  }

  // Ends with the transaction, whatever its outcome.
  class Guard {
   public:
    Guard() = default;
    Guard(UncommittedLeases& all, std::list<Range>::iterator at) : all_(&all), at_(at) {}
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
    UncommittedLeases* all_ = nullptr;
    std::list<Range>::iterator at_;
  };

  Guard begin(Range range) {
    const std::lock_guard lock(mutex_);
    return {*this, ranges_.insert(ranges_.end(), std::move(range))};
  }
  // The newest range; there are rarely two.
  std::optional<Range> of(const std::string& type) const {
    const std::lock_guard lock(mutex_);
    for (auto at = ranges_.rbegin(); at != ranges_.rend(); ++at) {
      if (at->type == type) return *at;
    }
    return std::nullopt;
  }

 private:
  void end(std::list<Range>::iterator at) {
    const std::lock_guard lock(mutex_);
    ranges_.erase(at);
  }

  mutable std::mutex mutex_;
  std::list<Range> ranges_;
};

}  // namespace cairn::postgres
