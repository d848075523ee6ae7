// One decision at a time per instance inside this process. Only a saving: without it, two decisions
// on one instance would meet in the store and one would be made again.
#pragma once

#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/id.h"

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

  // `post` calls whoever comes next, soon and not from inside `release`: waiters that leave at once, one after the
  // other, would else use up the stack. `yield`, when given, is called instead of blocking the thread until a lane is
  // free.
  explicit Lanes(Post post, std::function<void()> yield = {}) : post_(std::move(post)), yield_(std::move(yield)) {}

  // Waits until nobody else decides about it, first come, first served. A holder never waits for a second lane.
  Hold enter(const InstanceId& id);
  // The same without a thread that waits: `entered` is called now, or through `post` when somebody leaves.
  void enter(const InstanceId& id, Entered entered);
  // Holds nothing when somebody else does: for those who hold several.
  Hold try_enter(const InstanceId& id);

 private:
  void release(const std::string& id);

  Post post_;
  std::function<void()> yield_;
  std::mutex mutex_;
  // And who comes next: mostly nobody, for whom a list allocates nothing.
  std::unordered_map<std::string, std::list<Entered>> busy_;
};

}  // namespace cairn
