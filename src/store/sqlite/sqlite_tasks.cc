#include "store/row_filters.h"
#include "store/sqlite/reader.h"
#include "store/sqlite/row_reading.h"

namespace cairn {

using sqlite::Query;
using sqlite::Sql;
using sqlite::text_or_null;
using sqlite::Transaction;

void SqliteStore::task_event(std::int64_t task, TaskEvent::Kind kind, std::string_view actor, const Json& details) {
  writer_->run(Sql::insert_task_event, task, to_string(kind), now(), actor, details);
}

Result<TaskChanged> SqliteStore::change_task(const TaskChange& change) {
  std::unique_lock lock(writer_mutex_);
  if (auto refused = refusal()) return *refused;
  const Timestamp at = now();
  Transaction transaction(*writer_);
  TaskChanged answer;
  std::int64_t number = 0;
  {
    Query found = writer_->query(Sql::find_task, change.task.value);
    if (found.next()) {
      number = found.integer(sql::task_number_column);
      answer.row = sql::read_task(found);
    }
  }
  if (writer_->error()) return *writer_->error();
  if (number == 0) return TaskChanged{TaskChanged::Kind::not_found, {}};
  const TaskRow& row = answer.row;
  const bool open = row.status == TaskStatus::open || row.status == TaskStatus::assigned;
  const auto say = [&](TaskChanged::Kind kind) {
    answer.kind = kind;
    return answer;
  };
  if (change.state_version && *change.state_version != row.state_version) return say(TaskChanged::Kind::stale);
  if (!open && change.kind != TaskChange::Kind::comment) return say(TaskChanged::Kind::closed);
  const Json assignee = Json::object({{"assignee", change.assignee}});
  switch (change.kind) {
    case TaskChange::Kind::comment:
      task_event(number, TaskEvent::Kind::commented, change.actor, Json::object({{"comment", change.comment}}));
      break;
    case TaskChange::Kind::assign:
      if (row.status == TaskStatus::assigned) {
        return say(row.assignee == change.assignee ? TaskChanged::Kind::done : TaskChanged::Kind::taken);
      }
      writer_->run(Sql::update_task, number, "assigned", change.assignee, at);
      task_event(number, TaskEvent::Kind::assigned, change.actor, assignee);
      break;
    case TaskChange::Kind::reassign:
      writer_->run(Sql::update_task, number, "assigned", change.assignee, at);
      task_event(number, TaskEvent::Kind::reassigned, change.actor, assignee);
      break;
    case TaskChange::Kind::release:
      if (row.status == TaskStatus::open) return say(TaskChanged::Kind::done);
      writer_->run(Sql::update_task, number, "open", std::nullopt, at);
      task_event(number, TaskEvent::Kind::released, change.actor, Json());
      break;
  }
  {
    Query found = writer_->query(Sql::find_task, change.task.value);
    if (found.next()) answer.row = sql::read_task(found);
  }
  Wakeup wakeup;
  if (const auto event = event_of(change, answer.row, events_)) write_event(answer.row.instance, *event, wakeup);
  if (auto done = transaction.commit(); !done) return failed(done.error());
  lock.unlock();
  tell(wakeup);
  return answer;
}

Result<std::optional<TaskRow>> SqliteStore::find_task(const TaskId& id) {
  Reader db = reader();
  std::optional<TaskRow> found;
  {
    Query row = db->query(Sql::find_task, id.value);
    if (row.next()) found = sql::read_task(row);
  }
  return db.give(std::move(found));
}

Result<Page<TaskRow>> SqliteStore::list_tasks(const TaskFilter& filter, const PageRequest& request) {
  CAIRN_TRY(const sql::TaskCursor cursor, sql::read_task_cursor(request.cursor));
  Reader db = reader();
  Page<TaskRow> page;
  std::optional<std::string_view> status;
  if (filter.status) status = to_string(*filter.status);
  Json roles;
  for (const std::string& role : filter.roles) roles.push_back(role);
  std::optional<std::string> viewer_roles;
  if (filter.viewer_roles) {
    Json list = Json::array();
    for (const std::string& role : *filter.viewer_roles) list.push_back(role);
    viewer_roles = write_json(list);
  }
  const bool live = !filter.status || *filter.status == TaskStatus::open || *filter.status == TaskStatus::assigned;
  const bool closed_too = filter.closed || !live;
  const auto limit = needs_reading(filter) ? -1 : static_cast<std::int64_t>(request.limit + 1);
  {
    Query rows = filter.instance ? db->query(Sql::list_instance_tasks, status, text_or_null(filter.assignee), roles,
                                             text_or_null(filter.name), cursor.priority, cursor.number, limit,
                                             viewer_roles, filter.instance->value, closed_too)
                                 : db->query(closed_too ? Sql::list_all_tasks : Sql::list_open_tasks, status,
                                             text_or_null(filter.assignee), roles, text_or_null(filter.name),
                                             cursor.priority, cursor.number, limit, viewer_roles);
    std::string last;
    std::int64_t seen = 0;
    while (rows.next()) {
      ++seen;
      TaskRow row = sql::read_task(rows);
      if (const auto fault = db->take_row_fault()) {
        page.unreadable.push_back("task " + row.id.value + ": " + fault->message);
        last = std::to_string(rows.integer(12)) + "." + std::to_string(rows.integer(sql::task_number_column));
        continue;
      }
      if (!matches(row, filter)) continue;
      if (page.items.size() == request.limit) {
        page.next_cursor = last;
        break;
      }
      last = std::to_string(rows.integer(12)) + "." + std::to_string(rows.integer(sql::task_number_column));
      page.items.push_back(std::move(row));
    }
    // Unreadable rows used up the page. The other rows are on the next page.
    if (page.next_cursor.empty() && seen == limit) page.next_cursor = last;
  }
  return db.give(std::move(page));
}

Result<Page<TaskEvent>> SqliteStore::list_task_events(const TaskId& id, const PageRequest& request) {
  CAIRN_TRY(const std::int64_t cursor, sql::read_cursor(request.cursor, 0));
  Reader db = reader();
  Page<TaskEvent> page;
  {
    Query rows = db->query(Sql::task_events, id.value, cursor, sqlite::no_limit);
    std::int64_t last = cursor;
    while (rows.next()) {
      if (page.items.size() == request.limit) {
        page.next_cursor = std::to_string(last);
        break;
      }
      last = rows.integer(4);
      TaskEvent event{id, TaskEvent::Kind::created, rows.time(1), rows.text(2), rows.json(3)};
      const std::string kind = rows.text(0);
      for (const TaskEvent::Kind one :
           {TaskEvent::Kind::created, TaskEvent::Kind::assigned, TaskEvent::Kind::released, TaskEvent::Kind::reassigned,
            TaskEvent::Kind::completed, TaskEvent::Kind::cancelled, TaskEvent::Kind::expired,
            TaskEvent::Kind::commented}) {
        if (kind == to_string(one)) event.kind = one;
      }
      page.items.push_back(std::move(event));
    }
  }
  return db.give(std::move(page));
}

}  // namespace cairn
