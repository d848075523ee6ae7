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

class Lanes {
 public:
  class Hold {
   public:
    Hold() = default;
    Hold(Lanes& lanes, std::string id) : lanes_(&lanes), id_(std::move(id)) {}
    Hold(Hold&& other) noexcept : lanes_(std::exchange(other.lanes_, nullptr)), id_(std::move(other.id_)) {}
    Hold& operator=(Hold&& other) noexcept {
      std::swap(lanes_, other.lanes_);
      std::swap(id_, other.id_);
      return *this;
    }
    ~Hold() {
      if (lanes_) lanes_->release(id_);
    }
    explicit operator bool() const { return lanes_ != nullptr; }

   private:
    Lanes* lanes_ = nullptr;
    std::string id_;
  };

  using Entered = std::function<void(Hold)>;
  using Post = std::function<void(std::function<void()>)>;

  // `post` calls the next waiter soon, but not inside `release`: a long row of waiters would exhaust the stack. If
  // `yield` is given, it is called until the lane is free, and the thread does not block. `waiting_max`: how many
  // callers may wait for all lanes together.
  explicit Lanes(Post post, std::function<void()> yield = {}, std::size_t waiting_max = Limits().instance_waiting_max)
      : post_(std::move(post)), yield_(std::move(yield)), waiting_max_(waiting_max) {}

  // Waits for the lane, in order of arrival. A holder never waits for a second lane.
  Hold enter(const InstanceId& id);
  // The same without blocking: `entered` is called now, or through `post` when the lane is free.
  void enter(const InstanceId& id, Entered entered);
  // Whether `waiting_max` callers wait. New requests must be refused then.
  bool is_full() const { return waiting_.load(std::memory_order_relaxed) >= waiting_max_; }
  // Holds nothing if the lane is taken. For callers that hold several lanes.
  Hold try_enter(const InstanceId& id);

 private:
  void release(const std::string& id);

  Post post_;
  std::function<void()> yield_;
  const std::size_t waiting_max_;
  std::mutex mutex_;
  // The waiters of each taken lane. Most lanes have none, and an empty list allocates nothing.
  std::unordered_map<std::string, std::list<Entered>> busy_;
  std::atomic<std::size_t> waiting_ = 0;
};

}  // namespace cairn
