#include "store/postgres/wire/row_reading.h"
#include "store/postgres/wire/transaction.h"

namespace cairn {

using postgres::Jsonb;
using postgres::Rows;
using postgres::Sql;

Result<TaskChanged> PostgresStore::change_task(const TaskChange& change) {
  Wakeup wakeup;
  std::string state;
  const auto apply = [&](Connection& db) -> Result<TaskChanged> {
    wakeup = {};
    const Timestamp at = now();
    TaskChanged answer;
    db.send(Sql::wait_for_locks, std::to_string(row_wait_max.count()) + "ms");
    {
      Rows rows = db.query(Sql::lock_task, change.task.value);
      if (!rows.next()) return TaskChanged{TaskChanged::Kind::not_found, {}};
      answer.row = sql::read_task(rows);
      if (rows.fault()) return *rows.fault();
    }
    TaskRow& row = answer.row;
    const auto say = [&](TaskChanged::Kind kind) {
      answer.kind = kind;
      return answer;
    };
    const bool open = row.status == TaskStatus::open || row.status == TaskStatus::assigned;
    if (change.state_version && *change.state_version != row.state_version) return say(TaskChanged::Kind::stale);
    if (!open && change.kind != TaskChange::Kind::comment) return say(TaskChanged::Kind::closed);
    const auto event = [&](TaskEvent::Kind kind, const Json& details) {
      db.send(Sql::insert_task_event, row.id.value, to_string(kind), at, change.actor, Jsonb{details});
    };
    const auto move = [&](TaskStatus status, const std::string& assignee) {
      db.send(Sql::update_task, row.id.value, to_string(status), postgres::text_or_null(assignee), at);
      row.status = status;
      row.assignee = assignee;
      row.changed_at = at;
      ++row.state_version;
    };
    const Json assignee = Json::object({{"assignee", change.assignee}});
    switch (change.kind) {
      case TaskChange::Kind::comment:
        event(TaskEvent::Kind::commented, Json::object({{"comment", change.comment}}));
        return answer;
      case TaskChange::Kind::assign:
        if (row.status == TaskStatus::assigned) {
          return say(row.assignee == change.assignee ? TaskChanged::Kind::done : TaskChanged::Kind::taken);
        }
        move(TaskStatus::assigned, change.assignee);
        event(TaskEvent::Kind::assigned, assignee);
        break;
      case TaskChange::Kind::reassign:
        move(TaskStatus::assigned, change.assignee);
        event(TaskEvent::Kind::reassigned, assignee);
        break;
      case TaskChange::Kind::release:
        if (row.status == TaskStatus::open) return say(TaskChanged::Kind::done);
        move(TaskStatus::open, "");
        event(TaskEvent::Kind::released, Json());
        break;
    }
    if (const auto told = event_of(change, row, events_)) write_event(db, row.instance, *told, wakeup);
    return answer;
  };
  auto changed = write<TaskChanged>(apply, &state);
  if (!changed && state == postgres::lock_timeout_state) {
    return Error{ErrorCode::unavailable, "another transaction has locked task " + change.task.value};
  }
  if (changed) tell(wakeup);
  return changed;
}

}  // namespace cairn
