// One decision at a time per instance inside this process. It only saves work: without it, the store would find one of
// two concurrent decisions stale, and the engine would repeat it.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/id.h"
#include "base/limits.h"

namespace cairn {

class InstanceLocks {
 public:
  class Hold {
   public:
    Hold() = default;
    Hold(InstanceLocks& locks, std::string id) : locks_(&locks), id_(std::move(id)) {}
    Hold(Hold&& other) noexcept : locks_(std::exchange(other.locks_, nullptr)), id_(std::move(other.id_)) {}
    Hold& operator=(Hold&& other) noexcept {
      std::swap(locks_, other.locks_);
      std::swap(id_, other.id_);
      return *this;
    }
    ~Hold() {
      if (locks_) locks_->release(id_);
    }
    explicit operator bool() const { return locks_ != nullptr; }

   private:
    InstanceLocks* locks_ = nullptr;
    std::string id_;
  };

  using Entered = std::function<void(Hold)>;
  using Post = std::function<void(std::function<void()>)>;

  // `post` calls the next waiter soon, but not inside `release`: a long row of waiters would exhaust the stack. If
  // `yield` is given, it is called until the lock is free, and the thread does not block. `waiting_max`: how many
  // callers may wait for all locks together.
  explicit InstanceLocks(Post post, std::function<void()> yield = {},
                         std::size_t waiting_max = Limits().instance_waiting_max)
      : post_(std::move(post)), yield_(std::move(yield)), waiting_max_(waiting_max) {}

  // Waits for the lock, in order of arrival. A holder never waits for a second lock.
  Hold enter(const InstanceId& id);
  // The same without blocking: `entered` is called now, or through `post` when the lock is free.
  void enter(const InstanceId& id, Entered entered);
  // Whether `waiting_max` callers wait. New requests must be refused then.
  bool is_full() const { return waiting_.load(std::memory_order_relaxed) >= waiting_max_; }
  // Holds nothing if the lock is taken. For callers that hold several locks.
  Hold try_enter(const InstanceId& id);

 private:
  void release(const std::string& id);

  Post post_;
  std::function<void()> yield_;
  const std::size_t waiting_max_;
  std::mutex mutex_;
  // The waiters of each held lock. Most locks have none, and an empty list allocates nothing.
  std::unordered_map<std::string, std::list<Entered>> busy_;
  std::atomic<std::size_t> waiting_ = 0;
};

}  // namespace cairn
