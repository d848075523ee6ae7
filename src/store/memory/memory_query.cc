#include <algorithm>
#include <charconv>

#include "store/memory/memory_store.h"
#include "store/projection.h"
#include "store/row_filters.h"

namespace cairn {

namespace {

// The start of a page: the number in its cursor.
Result<std::optional<std::int64_t>> read_cursor(const std::string& cursor) {
  if (cursor.empty()) return std::optional<std::int64_t>();
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(cursor.data(), cursor.data() + cursor.size(), value);
  if (error != std::errc() || end != cursor.data() + cursor.size()) {
    return Error{ErrorCode::invalid, "the cursor is not one that this list gave"};
  }
  return std::optional(value);
}

}  // namespace

Result<PutDefinition> MemoryStore::put_definition(const DefinitionRow& given) {
  const std::lock_guard lock(mutex_);
  for (const DefinitionRow& row : definitions_) {
    if (row.name == given.name && row.version == given.version) {
      return row.digest == given.digest ? PutDefinition::same : PutDefinition::conflict;
    }
  }
  DefinitionRow row = given;
  row.deployed_at = now();
  row.retired_at.reset();
  definitions_.push_back(std::move(row));
  return PutDefinition::added;
}

Result<std::optional<DefinitionRow>> MemoryStore::find_definition(const std::string& name,
                                                                  const std::optional<std::string>& version) {
  const std::lock_guard lock(mutex_);
  for (auto row = definitions_.rbegin(); row != definitions_.rend(); ++row) {
    if (row->name != name) continue;
    if (version ? row->version == *version : !row->retired_at) return std::optional(*row);
  }
  return std::optional<DefinitionRow>();
}

Result<Page<DefinitionRow>> MemoryStore::list_definitions(const PageRequest& request) {
  CAIRN_TRY(const auto cursor, read_cursor(request.cursor));
  const std::lock_guard lock(mutex_);
  Page<DefinitionRow> page;
  for (std::size_t at = static_cast<std::size_t>(cursor.value_or(0)); at < definitions_.size(); ++at) {
    if (page.items.size() == request.limit) {
      page.next_cursor = std::to_string(at);
      break;
    }
    page.items.push_back(definitions_[at]);
  }
  return page;
}

Result<bool> MemoryStore::retire_definition(const std::string& name, const std::string& version) {
  const std::lock_guard lock(mutex_);
  for (DefinitionRow& row : definitions_) {
    if (row.name != name || row.version != version) continue;
    if (!row.retired_at) row.retired_at = now();
    return true;
  }
  return false;
}

Result<std::optional<Snapshot>> MemoryStore::find_snapshot(const InstanceId& id) {
  const std::lock_guard lock(mutex_);
  const auto found = instances_.find(id.value);
  if (found == instances_.end()) return std::optional<Snapshot>();
  const Instance& instance = found->second;
  if (instance.head.empty()) return std::optional(instance.snapshot);
  const auto read = [this](const std::vector<std::string>& hashes) -> Result<std::map<std::string, std::string>> {
    std::map<std::string, std::string> texts;
    for (const std::string& hash : hashes) {
      if (const auto piece = pieces_.find(hash); piece != pieces_.end()) texts.emplace(hash, piece->second.text);
    }
    return texts;
  };
  auto snapshot = decode_snapshot(instance.head, read);
  if (!snapshot) return with_context(snapshot.error(), "instance " + id.value);
  return std::optional(std::move(*snapshot));
}

Result<std::optional<KeyAnswer>> MemoryStore::find_key(const std::string& scope, const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = keys_.find({scope, key});
  if (found == keys_.end()) return std::optional<KeyAnswer>();
  return std::optional(found->second.answer);
}

Result<std::optional<InstanceRow>> MemoryStore::find_instance(const InstanceId& id) {
  const std::lock_guard lock(mutex_);
  const auto found = instances_.find(id.value);
  if (found == instances_.end()) return std::optional<InstanceRow>();
  return std::optional(found->second.row);
}

Result<Page<InstanceRow>> MemoryStore::list_instances(const InstanceFilter& filter, const PageRequest& request) {
  CAIRN_TRY(const auto cursor, read_cursor(request.cursor));
  const std::lock_guard lock(mutex_);
  Page<InstanceRow> page;
  std::int64_t last = 0;
  for (auto at = instance_order_.rbegin(); at != instance_order_.rend(); ++at) {
    if (cursor && at->first >= *cursor) continue;
    const InstanceRow& row = instances_.at(at->second).row;
    if (!matches(row, filter)) continue;
    if (page.items.size() == request.limit) {
      page.next_cursor = std::to_string(last);
      break;
    }
    page.items.push_back(row);
    last = at->first;
  }
  return page;
}

Result<Page<HistoryRow>> MemoryStore::history(const InstanceId& id, const PageRequest& request) {
  CAIRN_TRY(const auto cursor, read_cursor(request.cursor));
  const std::lock_guard lock(mutex_);
  Page<HistoryRow> page;
  const auto found = instances_.find(id.value);
  if (found == instances_.end()) return page;
  for (const HistoryRow& row : found->second.history) {
    if (cursor && row.sequence <= *cursor) continue;
    if (page.items.size() == request.limit) {
      page.next_cursor = std::to_string(page.items.back().sequence);
      break;
    }
    page.items.push_back(row);
  }
  return page;
}

Result<std::vector<Wait>> MemoryStore::list_waits(const InstanceId& id) {
  const std::lock_guard lock(mutex_);
  std::vector<Wait> waits;
  const auto found = instances_.find(id.value);
  if (found == instances_.end()) return waits;
  for (const auto& [token, wait] : found->second.waits) waits.push_back(wait);
  return waits;
}

Result<std::vector<DueTimer>> MemoryStore::list_timers(const InstanceId& id) {
  const std::lock_guard lock(mutex_);
  std::vector<DueTimer> timers;
  for (const auto& [key, timer] : timers_) {
    if (timer.instance == id) timers.push_back(timer);
  }
  return timers;
}

Result<std::vector<Message>> MemoryStore::list_messages(const InstanceId& id) {
  const std::lock_guard lock(mutex_);
  std::vector<Message> messages;
  for (const auto& [number, message] : messages_) {
    if (message.target == id) messages.push_back(message);
  }
  return messages;
}

Result<Page<RunRow>> MemoryStore::list_runs(const RunFilter& filter, const PageRequest& request) {
  CAIRN_TRY(const auto cursor, read_cursor(request.cursor));
  const std::lock_guard lock(mutex_);
  std::map<std::int64_t, const Run*, std::greater<>> newest;
  for (const auto& [id, run] : runs_) newest[run.number] = &run;
  Page<RunRow> page;
  std::int64_t last = 0;
  for (const auto& [number, run] : newest) {
    if (cursor && number >= *cursor) continue;
    const RunRow& row = run->row;
    if (row.deleted_at && !filter.deleted) continue;
    if (filter.status && row.status != *filter.status) continue;
    if (!row.type.starts_with(filter.type_prefix)) continue;
    if (filter.instance && row.instance != filter.instance) continue;
    if (page.items.size() == request.limit) {
      page.next_cursor = std::to_string(last);
      break;
    }
    page.items.push_back(row);
    last = number;
  }
  return page;
}

Result<std::optional<TaskRow>> MemoryStore::find_task(const TaskId& id) {
  const std::lock_guard lock(mutex_);
  const auto found = tasks_.find(id.value);
  if (found == tasks_.end()) return std::optional<TaskRow>();
  return std::optional(found->second.row);
}

Result<std::vector<TaskEvent>> MemoryStore::task_events(const TaskId& id) {
  const std::lock_guard lock(mutex_);
  const auto found = tasks_.find(id.value);
  return found == tasks_.end() ? std::vector<TaskEvent>() : found->second.events;
}

Result<Page<TaskRow>> MemoryStore::list_tasks(const TaskFilter& filter, const PageRequest& request) {
  CAIRN_TRY(const auto cursor, read_cursor(request.cursor));
  const std::lock_guard lock(mutex_);
  std::vector<const Task*> found;
  for (const auto& [id, task] : tasks_) {
    if (!matches(task.row, filter)) continue;
    found.push_back(&task);
  }
  std::sort(found.begin(), found.end(), [](const Task* a, const Task* b) {
    return std::tie(b->row.priority, a->number) < std::tie(a->row.priority, b->number);
  });
  Page<TaskRow> page;
  for (std::size_t at = static_cast<std::size_t>(cursor.value_or(0)); at < found.size(); ++at) {
    if (page.items.size() == request.limit) {
      page.next_cursor = std::to_string(at);
      break;
    }
    page.items.push_back(found[at]->row);
  }
  return page;
}

Result<TaskChanged> MemoryStore::change_task(const TaskChange& change) {
  std::unique_lock lock(mutex_);
  const auto found = tasks_.find(change.task.value);
  if (found == tasks_.end()) return TaskChanged{TaskChanged::Kind::not_found, {}};
  Task& task = found->second;
  TaskRow& row = task.row;
  if (change.state_version && *change.state_version != row.state_version)
    return TaskChanged{TaskChanged::Kind::stale, row};
  const bool open = row.status == TaskStatus::open || row.status == TaskStatus::assigned;
  TaskEvent event{row.id, TaskEvent::Kind::commented, now(), change.actor, Json()};
  if (change.kind == TaskChange::Kind::comment) {
    event.details = Json::object({{"comment", change.comment}});
    task.events.push_back(std::move(event));
    return TaskChanged{TaskChanged::Kind::done, row};
  }
  if (!open) return TaskChanged{TaskChanged::Kind::closed, row};
  switch (change.kind) {
    case TaskChange::Kind::assign:
      if (row.status == TaskStatus::assigned && row.assignee != change.assignee) {
        return TaskChanged{TaskChanged::Kind::taken, row};
      }
      if (row.status == TaskStatus::assigned) return TaskChanged{TaskChanged::Kind::done, row};
      event.kind = TaskEvent::Kind::assigned;
      break;
    case TaskChange::Kind::reassign: event.kind = TaskEvent::Kind::reassigned; break;
    case TaskChange::Kind::release:
      if (row.status == TaskStatus::open) return TaskChanged{TaskChanged::Kind::done, row};
      event.kind = TaskEvent::Kind::released;
      break;
    case TaskChange::Kind::comment: break;
  }
  if (change.kind == TaskChange::Kind::release) {
    row.status = TaskStatus::open;
    row.assignee.clear();
  } else {
    row.status = TaskStatus::assigned;
    row.assignee = change.assignee;
    event.details = Json::object({{"assignee", change.assignee}});
  }
  ++row.state_version;
  row.changed_at = event.at;
  task.events.push_back(std::move(event));
  Wakeup wakeup;
  if (const auto told = event_of(change, row, events_)) write_event(row.instance, *told, wakeup);
  const TaskChanged answer{TaskChanged::Kind::done, row};
  lock.unlock();
  tell(wakeup);
  return answer;
}

Result<Page<DeadLetter>> MemoryStore::list_dead_letters(const PageRequest& request) {
  CAIRN_TRY(const auto cursor, read_cursor(request.cursor));
  const std::lock_guard lock(mutex_);
  Page<DeadLetter> page;
  for (const auto& [id, letter] : dead_) {
    if (cursor && id <= *cursor) continue;
    if (page.items.size() == request.limit) {
      page.next_cursor = std::to_string(page.items.back().id);
      break;
    }
    page.items.push_back(letter);
  }
  return page;
}

}  // namespace cairn
