#include "scheduler.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/result.h"

namespace cairn::sim {

std::uint64_t Scheduler::spawn(int node, std::string name, std::function<void()> body) {
  Activity activity;
  activity.id = ++last_id_;
  activity.node = node;
  activity.name = std::move(name);
  activity.wake_at = now_ms_;
  activity.fiber = std::make_unique<Fiber>(std::move(body));
  activities_.push_back(std::move(activity));
  return last_id_;
}

void Scheduler::suspend() {
  CAIRN_ASSERT(current_ != nullptr);
  current_->fiber->suspend();
}

void Scheduler::yield() {
  current_->wake_at = now_ms_;
  suspend();
}

void Scheduler::sleep(std::int64_t ms) {
  current_->wake_at = now_ms_ + std::max<std::int64_t>(ms, 0);
  suspend();
}

void Scheduler::park(std::int64_t until_ms) {
  current_->wake_at = std::max(until_ms, now_ms_);
  suspend();
}

void Scheduler::wake(std::uint64_t activity) {
  for (Activity& candidate : activities_) {
    if (candidate.id == activity) candidate.wake_at = std::min(candidate.wake_at, now_ms_);
  }
}

void Scheduler::kill(int node) {
  for (Activity& activity : activities_) {
    if (activity.node == node) activity.dead = true;
  }
  if (current_ != nullptr && current_->dead) suspend();
}

const std::string& Scheduler::current_name() const {
  static const std::string nobody = "world";
  return current_ ? current_->name : nobody;
}

bool Scheduler::idle() const {
  return std::none_of(activities_.begin(), activities_.end(),
                      [&](const Activity& activity) { return !activity.dead && activity.wake_at <= now_ms_; });
}

bool Scheduler::step(std::int64_t horizon_ms) {
  // The fiber of a dead activity is let go, not ended: its stack and all that it held stay as they are.
  for (auto activity = activities_.begin(); activity != activities_.end();) {
    if (!activity->dead) {
      ++activity;
      continue;
    }
    static_cast<void>(activity->fiber.release());
    activity = activities_.erase(activity);
  }
  std::vector<Activity*> ready;
  std::int64_t earliest = std::numeric_limits<std::int64_t>::max();
  for (Activity& activity : activities_) {
    if (activity.wake_at <= now_ms_) ready.push_back(&activity);
    earliest = std::min(earliest, activity.wake_at);
  }
  if (ready.empty()) {
    if (earliest > horizon_ms) return false;
    now_ms_ = earliest;
    for (Activity& activity : activities_) {
      if (activity.wake_at <= now_ms_) ready.push_back(&activity);
    }
  }
  ++steps_;
  current_ = dice_.pick(ready);
  current_->fiber->resume();
  Activity* ran = std::exchange(current_, nullptr);
  if (ran->fiber->ended()) {
    activities_.remove_if([&](const Activity& activity) { return &activity == ran; });
  }
  return true;
}

}  // namespace cairn::sim
