#include <algorithm>

#include "store/memory/memory_store.h"
#include "store/projection.h"

namespace cairn {

Result<PutSchedule> MemoryStore::put_schedule(const ScheduleRow& given) {
  Wakeup wakeup;
  {
    const std::lock_guard lock(mutex_);
    const auto found = schedules_.find(given.name);
    const std::uint64_t state_version = found == schedules_.end() ? 0 : found->second.state_version;
    if (state_version != given.state_version) return PutSchedule::stale;
    ScheduleRow row = given;
    row.changed_at = now();
    row.created_at = found == schedules_.end() ? row.changed_at : found->second.created_at;
    ++row.state_version;
    if (row.next_at) row.next_at = whole_ms_up(*row.next_at);
    if (row.last_at) row.last_at = whole_ms(*row.last_at);
    if (row.next_at && !row.paused) wakeup.due = row.next_at;
    schedules_[given.name] = std::move(row);
    held_schedules_.erase(given.name);
  }
  tell(wakeup);
  return PutSchedule::done;
}

Result<std::optional<ScheduleRow>> MemoryStore::find_schedule(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto found = schedules_.find(name);
  if (found == schedules_.end()) return std::optional<ScheduleRow>();
  return std::optional(found->second);
}

Result<Page<ScheduleRow>> MemoryStore::list_schedules(const PageRequest& request) {
  const std::lock_guard lock(mutex_);
  Page<ScheduleRow> page;
  for (auto row = schedules_.upper_bound(request.cursor); row != schedules_.end(); ++row) {
    if (page.items.size() == request.limit) {
      page.next_cursor = page.items.back().name;
      break;
    }
    page.items.push_back(row->second);
  }
  return page;
}

Result<bool> MemoryStore::remove_schedule(const std::string& name) {
  const std::lock_guard lock(mutex_);
  held_schedules_.erase(name);
  return schedules_.erase(name) == 1;
}

Result<std::vector<ScheduleRow>> MemoryStore::take_schedules(std::size_t max, Duration hold) {
  const std::lock_guard lock(mutex_);
  const Timestamp at = now();
  std::vector<ScheduleRow> due;
  for (const auto& [name, row] : schedules_) {
    if (row.paused || !row.next_at || *row.next_at > at) continue;
    const auto held = held_schedules_.find(name);
    if (held == held_schedules_.end() || held->second <= at) due.push_back(row);
  }
  std::stable_sort(due.begin(), due.end(),
                   [](const ScheduleRow& a, const ScheduleRow& b) { return a.next_at < b.next_at; });
  if (due.size() > max) due.resize(max);
  for (const ScheduleRow& row : due) held_schedules_[row.name] = after(at, hold);
  return due;
}

std::optional<Timestamp> MemoryStore::next_scheduled(Timestamp looked_at) const {
  std::optional<Timestamp> next;
  const auto offer = [&next](Timestamp candidate) {
    if (!next || candidate < *next) next = candidate;
  };
  for (const auto& [name, row] : schedules_) {
    if (row.paused || !row.next_at) continue;
    const auto held = held_schedules_.find(name);
    offer(held == held_schedules_.end() ? *row.next_at : std::max(held->second, *row.next_at));
  }
  for (const auto& [sink, events] : sink_queues_) {
    for (const auto& [sequence, queued] : events) {
      if (queued.held_until && *queued.held_until > looked_at) offer(*queued.held_until);
    }
  }
  return next;
}

}  // namespace cairn
