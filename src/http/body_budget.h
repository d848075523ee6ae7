// Limits the memory of all request bodies together. A body counts from the moment the server waits for its bytes until
// the request is answered: while a change waits for the store, the values of the body stay in memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace cairn::http {

class BodyBudget {
 public:
  explicit BodyBudget(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  std::size_t used() const { return used_.load(std::memory_order_relaxed); }
  std::size_t bytes_max() const { return bytes_max_; }

 private:
  friend class BodyShare;
  // Returns false and takes nothing if the total would exceed `most`.
  bool take(std::size_t bytes, std::size_t most) {
    if (used_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= most) return true;
    give_back(bytes);
    return false;
  }
  void give_back(std::size_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }

  const std::size_t bytes_max_;
  std::atomic<std::size_t> used_{0};
};

// The share of one body in the budget. Copying a request copies its body, so a copy counts again.
class BodyShare {
 public:
  BodyShare() = default;
  explicit BodyShare(std::shared_ptr<BodyBudget> budget) : budget_(std::move(budget)) {}
  BodyShare(const BodyShare& other) : budget_(other.budget_), bytes_(other.bytes_) {
    if (bytes_ > 0) budget_->used_.fetch_add(bytes_, std::memory_order_relaxed);
  }
  BodyShare(BodyShare&& other) noexcept : budget_(std::move(other.budget_)), bytes_(std::exchange(other.bytes_, 0)) {}
  BodyShare& operator=(BodyShare other) noexcept {
    std::swap(budget_, other.budget_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~BodyShare() {
    if (bytes_ > 0) budget_->give_back(bytes_);
  }

  std::size_t bytes_max() const { return budget_ ? budget_->bytes_max_ : 0; }

  // Grows the share to `bytes` in total. Returns false and changes nothing if the budget has no room. Unknown callers
  // may use half of the budget, so that they cannot block known callers.
  bool grow_to(std::size_t bytes, bool known_caller) {
    if (bytes <= bytes_ || !budget_) return true;
    const std::size_t most = known_caller ? budget_->bytes_max_ : budget_->bytes_max_ / 2;
    if (!budget_->take(bytes - bytes_, most)) return false;
    bytes_ = bytes;
    return true;
  }

 private:
  std::shared_ptr<BodyBudget> budget_;  // shared with the server; a request can outlive it
  std::size_t bytes_ = 0;
};

}  // namespace cairn::http
