#include "engine/postponed_work.h"

#include "store/projection.h"

namespace cairn {

void PostponedWork::look_again() {
  Wakeup later;
  later.due = after(context_.store.now(), context_.options.hold);
  {
    const std::lock_guard lock(mutex_);
    if (!again_at_ || *later.due < *again_at_) again_at_ = later.due;
  }
  listeners_.tell(later);
}

void PostponedWork::add_slices(const std::vector<InstanceId>& interrupted) {
  if (interrupted.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    for (const InstanceId& id : interrupted) slices_.insert(id.value);
  }
  look_again();
}

std::set<std::string> PostponedWork::take_slices() {
  std::set<std::string> taken;
  const std::lock_guard lock(mutex_);
  if (again_at_ && *again_at_ <= context_.store.now()) again_at_.reset();
  taken.swap(slices_);
  return taken;
}

std::optional<Timestamp> PostponedWork::next() const {
  const std::lock_guard lock(mutex_);
  return again_at_;
}

}  // namespace cairn
