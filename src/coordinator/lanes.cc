#include "coordinator/lanes.h"

namespace cairn {

Lanes::Hold Lanes::enter(const InstanceId& id) {
  if (yield_) {
    for (;;) {
      if (Hold hold = try_enter(id)) return hold;
      yield_();
    }
  }
  std::unique_lock lock(mutex_);
  left_.wait(lock, [&] { return !busy_.contains(id.value); });
  busy_.insert(id.value);
  return Hold(*this, id.value);
}

Lanes::Hold Lanes::try_enter(const InstanceId& id) {
  const std::lock_guard lock(mutex_);
  if (!busy_.insert(id.value).second) return {};
  return Hold(*this, id.value);
}

void Lanes::release(const std::string& id) {
  {
    const std::lock_guard lock(mutex_);
    busy_.erase(id);
  }
  left_.notify_all();
}

}  // namespace cairn
