#include "engine/instance_locks.h"

#include <future>

namespace cairn {

InstanceLocks::Hold InstanceLocks::enter(const InstanceId& id) {
  if (yield_) {
    for (;;) {
      if (Hold hold = try_enter(id)) return hold;
      yield_();
    }
  }
  if (Hold hold = try_enter(id)) return hold;
  std::promise<Hold> entered;
  enter(id, [&entered](Hold hold) { entered.set_value(std::move(hold)); });
  return entered.get_future().get();
}

void InstanceLocks::enter(const InstanceId& id, Entered entered) {
  {
    const std::lock_guard lock(mutex_);
    const auto [waiters, free] = busy_.try_emplace(id.value);
    if (!free) {
      waiters->second.push_back(std::move(entered));
      ++waiting_;
      return;
    }
  }
  entered(Hold(*this, id.value));
}

InstanceLocks::Hold InstanceLocks::try_enter(const InstanceId& id) {
  const std::lock_guard lock(mutex_);
  if (!busy_.try_emplace(id.value).second) return {};
  return Hold(*this, id.value);
}

void InstanceLocks::release(const std::string& id) {
  Entered next;
  {
    const std::lock_guard lock(mutex_);
    const auto waiters = busy_.find(id);
    if (waiters->second.empty()) {
      busy_.erase(waiters);
      return;
    }
    next = std::move(waiters->second.front());
    waiters->second.pop_front();
    --waiting_;
  }
  post_([this, id, next = std::move(next)] { next(Hold(*this, id)); });
}

}  // namespace cairn
