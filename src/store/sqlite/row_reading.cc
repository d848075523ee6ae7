#include "store/sqlite/row_reading.h"

#include <charconv>

namespace cairn::sqlite {

namespace {

Reference read_reference(const Query& query, int key, int parts) {
  Reference reference;
  if (!query.is_null(key)) reference.key = Json(query.text(key));
  if (!query.is_null(parts)) reference.parts = query.json(parts);
  return reference;
}

std::vector<std::string> read_names(const Query& query, int column) {
  std::vector<std::string> names;
  const Json list = query.json(column);
  if (!list.is_array()) return names;
  for (const Json& name : list.items()) {
    if (name.is_string()) names.emplace_back(name.as_string());
  }
  return names;
}

void unknown(Connection& connection, const char* what, const std::string& text) {
  connection.fail({ErrorCode::corrupt, std::string("a stored ") + what + " is unknown: " + text});
}

}  // namespace

DefinitionRow read_definition(const Query& query) {
  return {query.text(0), query.text(1), query.text(2), query.json(3), query.time(4), query.time_or_nothing(5)};
}

Result<InstanceRow> read_instance(const Query& query) {
  InstanceRow row;
  row.id = {query.text(0)};
  row.program = {query.text(1), query.text(2), query.text(3)};
  const auto status = status_from(query.text(4));
  if (!status)
    return Error{ErrorCode::corrupt, "instance " + row.id.value + " has the unknown status " + query.text(4)};
  row.status = *status;
  if (query.is_null(5)) return Error{ErrorCode::corrupt, "instance " + row.id.value + " has no snapshot"};
  row.version = static_cast<std::uint64_t>(query.integer(5));
  row.reference = read_reference(query, 6, 7);
  if (!query.is_null(8)) row.parent = InstanceId{query.text(8)};
  if (!query.is_null(9)) {
    auto error = failure_from_json(query.json(9));
    if (!error) return with_context(error.error(), "instance " + row.id.value);
    row.error = std::move(*error);
  }
  row.started_at = query.time(10);
  row.changed_at = query.time(11);
  row.ended_at = query.time_or_nothing(12);
  row.deleted_at = query.time_or_nothing(13);
  row.delete_reason = query.text(14);
  return row;
}

TaskRow read_task(const Query& query, Connection& connection) {
  TaskRow row;
  row.id = {query.text(0)};
  row.instance = {query.text(1)};
  row.token = {query.text(2)};
  row.step = query.text(3);
  row.name = query.text(4);
  row.title = query.text(5);
  const std::string status = query.text(6);
  bool known = false;
  for (const TaskStatus one :
       {TaskStatus::open, TaskStatus::assigned, TaskStatus::completed, TaskStatus::cancelled, TaskStatus::expired}) {
    if (status == to_string(one)) {
      row.status = one;
      known = true;
    }
  }
  if (!known) unknown(connection, "task status", status);
  row.version = static_cast<std::uint64_t>(query.integer(7));
  row.roles = read_names(query, 8);
  row.exclude = read_names(query, 9);
  row.payload = query.json(10);
  row.form = query.json(11);
  row.priority = query.integer(12);
  row.due = query.time_or_nothing(13);
  row.deadline = query.time_or_nothing(14);
  row.assignee = query.text(15);
  row.reference = read_reference(query, 16, 17);
  row.created_at = query.time(18);
  row.changed_at = query.time(19);
  row.completed_by = query.text(20);
  row.completed_at = query.time_or_nothing(21);
  row.completion = query.json(22);
  row.managers = read_names(query, 24);
  return row;
}

RunRow read_run(const Query& query, Connection& connection) {
  RunRow row;
  row.id = {query.text(0)};
  row.type = query.text(1);
  const auto status = run_status_from(query.text(2));
  if (!status) {
    unknown(connection, "run status", query.text(2));
    return row;
  }
  row.status = *status;
  row.priority = query.integer(3);
  row.idempotency_key = query.text(4);
  row.payload = query.json(5);
  row.result = query.json(6);
  row.error = query.json(7);
  row.last_error = query.text(8);
  row.attempt = static_cast<int>(query.integer(9));
  row.attempts_max = static_cast<int>(query.integer(10));
  row.leases = static_cast<int>(query.integer(11));
  row.fence = static_cast<std::uint64_t>(query.integer(12));
  row.run_at = query.time(13);
  row.lease_until = query.time_or_nothing(14);
  row.leased_by = query.text(15);
  row.backoff = Duration::of_ms(query.integer(16));
  row.factor = query.number(17);
  row.cap = Duration::of_ms(query.integer(18));
  row.jitter = query.number(19);
  if (!query.is_null(20)) row.timeout = Duration::of_ms(query.integer(20));
  if (!query.is_null(21)) row.instance = InstanceId{query.text(21)};
  row.token = {query.text(22)};
  row.step = query.text(23);
  row.created_at = query.time(24);
  row.updated_at = query.time(25);
  row.deleted_at = query.time_or_nothing(26);
  row.delete_reason = query.text(27);
  row.limit_key = query.text(run_number_column + 1);
  return row;
}

Wait read_wait(const Query& query, Connection& connection) {
  Wait wait;
  wait.token = {query.text(0)};
  const std::string kind = query.text(1);
  bool known = false;
  for (const WaitKind one : {WaitKind::task, WaitKind::timer, WaitKind::signal, WaitKind::subworkflow, WaitKind::run}) {
    if (kind == to_string(one)) {
      wait.kind = one;
      known = true;
    }
  }
  if (!known) unknown(connection, "wait", kind);
  wait.step = query.text(2);
  wait.strand = static_cast<std::uint64_t>(query.integer(3));
  wait.since = query.time(4);
  wait.until = query.time_or_nothing(5);
  wait.name = query.text(6);
  if (!query.is_null(7)) wait.key = Json(query.text(7));
  wait.target = query.text(8);
  return wait;
}

Message read_message(const Query& query, Connection& connection) {
  Message message;
  message.id = query.integer(0);
  message.target = {query.text(1)};
  const auto kind = message_kind_from(query.text(2));
  if (!kind) unknown(connection, "message", query.text(2));
  message.kind = kind.value_or(Message::Kind::signal);
  message.body = query.json(3);
  message.at = query.time(4);
  return message;
}

DeadLetter read_dead_letter(const Query& query) {
  DeadLetter letter;
  letter.id = query.integer(0);
  if (!query.is_null(1)) letter.instance = InstanceId{query.text(1)};
  letter.kind = query.text(2);
  letter.envelope = query.json(3);
  letter.reason = query.text(4);
  letter.node = query.text(5);
  letter.at = query.time(6);
  return letter;
}

std::optional<std::string_view> reference_key(const Reference& reference) {
  if (!reference.key.is_string()) return std::nullopt;
  return reference.key.as_string();
}

Json reference_parts(const Reference& reference) {
  return reference.parts.is_object() && reference.parts.size() > 0 ? reference.parts : Json();
}

Result<std::int64_t> read_cursor(const std::string& cursor, std::int64_t first) {
  if (cursor.empty()) return first;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(cursor.data(), cursor.data() + cursor.size(), value);
  if (error != std::errc() || end != cursor.data() + cursor.size()) {
    return Error{ErrorCode::invalid, "the cursor is not one that this list gave"};
  }
  return value;
}

}  // namespace cairn::sqlite
