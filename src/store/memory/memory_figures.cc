#include <algorithm>
#include <map>

#include "store/memory/memory_store.h"

namespace cairn {

Result<StoreFigures> MemoryStore::figures(std::size_t most, std::size_t names_max) {
  const std::lock_guard lock(mutex_);
  StoreFigures figures;
  const auto earlier = [](std::optional<Timestamp>& since, Timestamp at) {
    if (!since || at < *since) since = at;
  };
  std::map<std::string, DefinitionFigures> definitions;
  std::map<std::string, QueueFigures> queues;
  for (const auto& [id, instance] : instances_) {
    if (!is_final(instance.row.status)) {
      DefinitionFigures& of_definition = definitions[instance.row.program.name];
      ++(instance.row.status == Status::suspended ? of_definition.suspended : of_definition.active);
    }
    if (instance.row.deleted_at) continue;
    figures.suspended += instance.row.status == Status::suspended ? 1 : 0;
    figures.failed += instance.row.status == Status::failed ? 1 : 0;
  }
  for (const auto& [id, task] : tasks_) {
    figures.tasks_open += task.row.status == TaskStatus::open || task.row.status == TaskStatus::assigned ? 1 : 0;
  }
  for (const auto& [id, run] : runs_) {
    if (run.row.status == RunStatus::leased) {
      ++figures.runs_leased;
      Timestamp since = run.row.updated_at;
      for (const RunEvent& event : run.events) {
        if (event.kind == "leased") since = event.at;
      }
      earlier(figures.run_leased_since, since);
    }
    if (run.row.status != RunStatus::pending || run.row.deleted_at || run.row.run_at > now()) continue;
    ++figures.runs_ready;
    earlier(figures.run_ready_since, run.row.run_at);
    QueueFigures& queue = queues[run.row.type];
    ++queue.ready;
    earlier(queue.ready_since, run.row.run_at);
  }
  figures.messages = messages_.size();
  if (!messages_.empty()) figures.message_since = messages_.begin()->second.at;
  for (const auto& [sequence, event] : outbox_) {
    if (event.published_at) continue;
    if (figures.events_unpublished++ == 0) figures.event_since = event.created_at;
  }
  figures.dead_letters = dead_.size();
  for (const auto& [key, timer] : timers_) {
    if (timer.due <= now()) earlier(figures.timer_due_since, timer.due);
  }
  for (std::size_t* count :
       {&figures.suspended, &figures.failed, &figures.tasks_open, &figures.runs_ready, &figures.runs_leased,
        &figures.messages, &figures.events_unpublished, &figures.dead_letters}) {
    *count = std::min(*count, most);
  }
  for (const auto& [name, one] : definitions) {
    if (figures.definitions.size() <= names_max)
      figures.definitions.push_back({names_max > figures.definitions.size() ? name : "", 0, 0});
    figures.definitions.back().active += one.active;
    figures.definitions.back().suspended += one.suspended;
  }
  for (DefinitionFigures& one : figures.definitions) {
    one.active = std::min(one.active, most);
    one.suspended = std::min(one.suspended, most);
  }
  for (const auto& [type, one] : queues) {
    if (figures.queues.size() <= names_max)
      figures.queues.push_back({names_max > figures.queues.size() ? type : "", 0, {}});
    figures.queues.back().ready += one.ready;
    earlier(figures.queues.back().ready_since, *one.ready_since);
  }
  for (QueueFigures& one : figures.queues) one.ready = std::min(one.ready, most);
  return figures;
}

}  // namespace cairn
