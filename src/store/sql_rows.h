// Reads the rows of SQL statements as values, for SQLite and PostgreSQL alike. `Row` is sqlite::Query or
// postgres::Rows. The statements of both back ends list the columns in exactly this order. A value that cannot be read
// sets an error on the row; the caller checks it after reading.
#pragma once

#include <charconv>

#include "store/store.h"

namespace cairn::sql {

// The column with the number of the row, which cursors continue after.
inline constexpr int instance_number_column = 15;
inline constexpr int task_number_column = 23;
inline constexpr int run_number_column = 29;

// The start of a page: the number in its cursor, or `first` without a cursor.
inline Result<std::int64_t> read_cursor(const std::string& cursor, std::int64_t first) {
  if (cursor.empty()) return first;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(cursor.data(), cursor.data() + cursor.size(), value);
  if (error != std::errc() || end != cursor.data() + cursor.size()) {
    return Error{ErrorCode::invalid, "the cursor is not one that this list gave"};
  }
  return value;
}

// Priority and number of the last task of a page: the list is sorted by both.
struct TaskCursor {
  std::optional<std::int64_t> priority;
  std::int64_t number = 0;
};

inline Result<TaskCursor> read_task_cursor(const std::string& cursor) {
  TaskCursor at;
  if (cursor.empty()) return at;
  const std::size_t dot = cursor.find('.');
  if (dot == std::string::npos) return Error{ErrorCode::invalid, "the cursor is not one that this list gave"};
  CAIRN_TRY(at.priority, read_cursor(cursor.substr(0, dot), 0));
  CAIRN_TRY(at.number, read_cursor(cursor.substr(dot + 1), 0));
  return at;
}

template <class Row>
void unknown(const Row& row, const char* what, const std::string& text) {
  row.fail({ErrorCode::corrupt, std::string("a stored ") + what + " is unknown: " + text});
}

template <class Row>
Reference read_reference(const Row& row, int key, int parts) {
  Reference reference;
  if (!row.is_null(key)) reference.key = Json(row.text(key));
  if (!row.is_null(parts)) reference.parts = row.json(parts);
  return reference;
}

template <class Row>
DefinitionRow read_definition(const Row& row) {
  return {row.text(0), row.text(1), row.text(2), row.json(3), row.time(4), row.time_or_nothing(5)};
}

template <class Row>
InstanceRow read_instance(const Row& row) {
  InstanceRow instance;
  instance.id = {row.text(0)};
  instance.program = {row.text(1), row.text(2), row.text(3)};
  const auto status = status_from(row.text(4));
  if (!status) unknown(row, "instance status", row.text(4));
  instance.status = status.value_or(Status::suspended);
  if (row.is_null(5)) row.fail({ErrorCode::corrupt, "instance " + instance.id.value + " has no snapshot"});
  instance.state_version = static_cast<std::uint64_t>(row.integer(5));
  instance.reference = read_reference(row, 6, 7);
  if (!row.is_null(8)) instance.parent = InstanceId{row.text(8)};
  if (!row.is_null(9)) {
    auto error = failure_from_json(row.json(9));
    if (error) {
      instance.error = std::move(*error);
    } else {
      row.fail(with_context(error.error(), "instance " + instance.id.value));
    }
  }
  instance.started_at = row.time(10);
  instance.changed_at = row.time(11);
  instance.ended_at = row.time_or_nothing(12);
  instance.deleted_at = row.time_or_nothing(13);
  instance.delete_reason = row.text(14);
  return instance;
}

template <class Row>
TaskRow read_task(const Row& row) {
  TaskRow task;
  task.id = {row.text(0)};
  task.instance = {row.text(1)};
  task.token = {row.text(2)};
  task.step = row.text(3);
  task.name = row.text(4);
  task.title = row.text(5);
  const auto status = task_status_from(row.text(6));
  if (!status) unknown(row, "task status", row.text(6));
  task.status = status.value_or(TaskStatus::cancelled);
  task.state_version = static_cast<std::uint64_t>(row.integer(7));
  task.roles = row.texts(8);
  task.exclude = row.texts(9);
  task.payload = row.json(10);
  task.form = row.json(11);
  task.priority = row.integer(12);
  task.due = row.time_or_nothing(13);
  task.deadline = row.time_or_nothing(14);
  task.assignee = row.text(15);
  task.reference = read_reference(row, 16, 17);
  task.created_at = row.time(18);
  task.changed_at = row.time(19);
  task.completed_by = row.text(20);
  task.completed_at = row.time_or_nothing(21);
  task.completion = row.json(22);
  task.managers = row.texts(24);
  return task;
}

// The retry policy, from the column `backoff_ms` to `timeout_ms`.
template <class Row>
void read_retries(const Row& row, int first, RunRow& run) {
  run.backoff = Duration::of_ms(row.integer(first));
  run.factor = row.number(first + 1);
  run.cap = Duration::of_ms(row.integer(first + 2));
  run.jitter = row.number(first + 3);
  if (!row.is_null(first + 4)) run.timeout = Duration::of_ms(row.integer(first + 4));
}

template <class Row>
RunRow read_run(const Row& row) {
  RunRow run;
  run.id = {row.text(0)};
  run.type = row.text(1);
  const auto status = run_status_from(row.text(2));
  if (!status) unknown(row, "run status", row.text(2));
  run.status = status.value_or(RunStatus::failed);
  run.priority = row.integer(3);
  run.idempotency_key = row.text(4);
  run.payload = row.stored_json(5);
  run.result = row.stored_json(6);
  run.error = row.stored_json(7);
  run.last_error = row.text(8);
  run.attempt = static_cast<int>(row.integer(9));
  run.attempts_max = static_cast<int>(row.integer(10));
  run.leases = static_cast<int>(row.integer(11));
  run.fence = static_cast<std::uint64_t>(row.integer(12));
  run.run_at = row.time(13);
  run.lease_until = row.time_or_nothing(14);
  run.leased_by = row.text(15);
  read_retries(row, 16, run);
  if (!row.is_null(21)) run.instance = InstanceId{row.text(21)};
  run.token = {row.text(22)};
  run.step = row.text(23);
  run.created_at = row.time(24);
  run.updated_at = row.time(25);
  run.deleted_at = row.time_or_nothing(26);
  run.delete_reason = row.text(27);
  run.limit_key = row.text(28);
  return run;
}

template <class Row>
Wait read_wait(const Row& row) {
  Wait wait;
  wait.token = {row.text(0)};
  const auto kind = wait_kind_from(row.text(1));
  if (!kind) unknown(row, "wait", row.text(1));
  wait.kind = kind.value_or(WaitKind::timer);
  wait.step = row.text(2);
  wait.strand = static_cast<std::uint64_t>(row.integer(3));
  wait.since = row.time(4);
  wait.until = row.time_or_nothing(5);
  wait.name = row.text(6);
  if (!row.is_null(7)) wait.key = Json(row.text(7));
  wait.target = row.text(8);
  return wait;
}

template <class Row>
Message read_message(const Row& row) {
  Message message;
  message.id = row.integer(0);
  message.target = {row.text(1)};
  const auto kind = message_kind_from(row.text(2));
  if (!kind) unknown(row, "message", row.text(2));
  message.kind = kind.value_or(Message::Kind::signal);
  message.body = row.json(3);
  message.at = row.time(4);
  return message;
}

template <class Row>
DeadLetter read_dead_letter(const Row& row) {
  DeadLetter letter;
  letter.id = row.integer(0);
  if (!row.is_null(1)) letter.instance = InstanceId{row.text(1)};
  letter.kind = row.text(2);
  letter.envelope = row.json(3);
  letter.reason = row.text(4);
  letter.node = row.text(5);
  letter.at = row.time(6);
  return letter;
}

template <class Row>
HistoryRow read_history(const Row& row) {
  HistoryRow history;
  history.sequence = row.integer(0);
  history.state_version = static_cast<std::uint64_t>(row.integer(1));
  if (const auto kind = log_kind_from(row.text(2))) history.entry.kind = *kind;
  history.entry.step = row.text(3);
  history.entry.at = row.time(4);
  history.entry.actor = row.text(5);
  history.entry.attempt = static_cast<int>(row.integer(6));
  history.entry.details = row.json(7);
  history.entry.visit = row.text(8);
  return history;
}

// Without published_at and attempts, which not every statement has.
template <class Row>
OutboxRow read_outbox(const Row& row) {
  OutboxRow event;
  event.sequence = row.integer(0);
  event.event.id = {row.text(1)};
  event.instance = {row.text(2)};
  event.event.type = row.text(3);
  event.event.subject = row.text(4);
  event.event.data = row.stored_json(5);
  event.created_at = row.time(6);
  return event;
}

// All rows of a statement.
template <class Rows>
std::vector<RunTypeRow> read_run_types(Rows&& rows) {
  const auto length = [&](int column) {
    return rows.is_null(column) ? std::nullopt : std::optional(Duration::of_ms(rows.integer(column)));
  };
  const auto count = [&](int column) {
    return rows.is_null(column) ? std::nullopt : std::optional(static_cast<int>(rows.integer(column)));
  };
  std::vector<RunTypeRow> types;
  while (rows.next()) {
    RunTypeRow type;
    type.type = rows.text(0);
    type.lease = length(1);
    type.attempts_max = count(2);
    type.backoff = length(3);
    type.cap = length(4);
    type.paused = rows.boolean(5);
    type.concurrency = count(6);
    type.rate = count(7);
    type.rate_window = Duration::of_ms(rows.integer(8));
    type.limit_key = rows.text(9);
    types.push_back(std::move(type));
  }
  return types;
}

}  // namespace cairn::sql
