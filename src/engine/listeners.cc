#include "engine/listeners.h"

namespace cairn {

// Calls the listener under the lock.
void Listeners::on_wakeup(WakeupListener listener) {
  const std::lock_guard lock(wakeup_mutex_);
  wakeup_ = std::move(listener);
}

std::shared_ptr<void> Listeners::listen(WakeupListener listener) {
  const std::lock_guard lock(further_->mutex);
  const auto place = further_->list.insert(further_->list.end(), std::move(listener));
  return {nullptr, [further = further_, place](void*) {
            const std::lock_guard inner(further->mutex);
            further->list.erase(place);
          }};
}

void Listeners::tell(const Wakeup& wakeup) {
  {
    const std::lock_guard lock(wakeup_mutex_);
    if (wakeup_) wakeup_(wakeup);
  }
  const std::lock_guard lock(further_->mutex);
  for (const WakeupListener& one : further_->list) one(wakeup);
}

void Listeners::tell_committed(const Slice& slice) {
  if (observer_) observer_(slice);
}

void Listeners::tell_changed(const Snapshot& after) {
  results_.tell(after);
  if (ended_ && is_final(after.status)) ended_(after.instance);
}

void Listeners::tell_ended_elsewhere(const InstanceId& id) {
  results_.tell(id.value);
  if (ended_) ended_(id);
}

void Listeners::tell_run_ended(const RunRow& run) const {
  if (run_follower_.follows(run)) run_follower_.ended(run);
}

void Listeners::stop() {
  results_.tell_all();
  on_wakeup({});
}

}  // namespace cairn
