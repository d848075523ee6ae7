#include "engine/lanes.h"

#include <future>

namespace cairn {

Lanes::Hold Lanes::enter(const InstanceId& id) {
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

void Lanes::enter(const InstanceId& id, Entered entered) {
  {
    const std::lock_guard lock(mutex_);
    const auto [lane, free] = busy_.try_emplace(id.value);
    if (!free) {
      lane->second.push_back(std::move(entered));
      ++waiting_;
      return;
    }
  }
  entered(Hold(*this, id.value));
}

Lanes::Hold Lanes::try_enter(const InstanceId& id) {
  const std::lock_guard lock(mutex_);
  if (!busy_.try_emplace(id.value).second) return {};
  return Hold(*this, id.value);
}

void Lanes::release(const std::string& id) {
  Entered next;
  {
    const std::lock_guard lock(mutex_);
    const auto lane = busy_.find(id);
    if (lane->second.empty()) {
      busy_.erase(lane);
      return;
    }
    next = std::move(lane->second.front());
    lane->second.pop_front();
    --waiting_;
  }
  post_([this, id, next = std::move(next)] { next(Hold(*this, id)); });
}

}  // namespace cairn
