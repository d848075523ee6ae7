#include "engine/result_waiters.h"

#include <vector>

namespace cairn {

ResultWaiters::Place::Place(ResultWaiters& waiters, const InstanceId& id) : waiters_(waiters), id_(id.value) {
  const std::lock_guard lock(waiters_.mutex_);
  waiters_.places_.emplace(id_, this);
}

ResultWaiters::Place::~Place() {
  const std::lock_guard lock(waiters_.mutex_);
  const auto [from, to] = waiters_.places_.equal_range(id_);
  for (auto at = from; at != to; ++at) {
    if (at->second == this) {
      waiters_.places_.erase(at);
      return;
    }
  }
}

bool ResultWaiters::Place::wait_until(std::chrono::steady_clock::time_point limit) {
  std::unique_lock lock(waiters_.mutex_);
  const bool told = changed_.wait_until(lock, limit, [this] { return told_; });
  told_ = false;
  return told;
}

std::optional<Snapshot> ResultWaiters::Place::end() {
  const std::lock_guard lock(waiters_.mutex_);
  return end_;
}

std::shared_ptr<void> ResultWaiters::call(const InstanceId& id, Changed changed) {
  const std::lock_guard lock(calls_->mutex);
  const auto place = calls_->by_id.emplace(id.value, std::move(changed));
  return {nullptr, [calls = calls_, place](void*) {
            const std::lock_guard inner(calls->mutex);
            calls->by_id.erase(place);
          }};
}

void ResultWaiters::tell(const std::string& id) {
  {
    const std::lock_guard lock(mutex_);
    const auto [from, to] = places_.equal_range(id);
    for (auto at = from; at != to; ++at) {
      at->second->told_ = true;
      at->second->changed_.notify_all();
    }
  }
  tell_calls(id, nullptr);
}

void ResultWaiters::tell(const Snapshot& after) {
  if (is_final_or_suspended(after.status)) {
    const std::lock_guard lock(mutex_);
    const auto [from, to] = places_.equal_range(after.instance.value);
    for (auto at = from; at != to; ++at) {
      at->second->told_ = true;
      at->second->end_ = after;
      at->second->changed_.notify_all();
    }
  }
  tell_calls(after.instance.value, &after);
}

// Without the lock, because a listener may answer a client at once.
void ResultWaiters::tell_calls(const std::string& id, const Snapshot* after) {
  std::vector<Changed> waiting;
  {
    const std::lock_guard lock(calls_->mutex);
    const auto [from, to] = calls_->by_id.equal_range(id);
    for (auto at = from; at != to; ++at) waiting.push_back(at->second);
  }
  for (const Changed& changed : waiting) changed(after);
}

void ResultWaiters::tell_all() {
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, place] : places_) {
      place->told_ = true;
      place->changed_.notify_all();
    }
  }
  std::vector<Changed> waiting;
  {
    const std::lock_guard lock(calls_->mutex);
    for (const auto& [id, told] : calls_->by_id) waiting.push_back(told);
  }
  for (const Changed& changed : waiting) changed(nullptr);
}

}  // namespace cairn
