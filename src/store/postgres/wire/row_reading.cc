#include "store/postgres/wire/row_reading.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/ascii.h"

namespace cairn::postgres {

namespace {

Reference read_reference(const Rows& rows, int key, int parts) {
  Reference reference;
  if (!rows.is_null(key)) reference.key = Json(rows.text(key));
  if (!rows.is_null(parts)) reference.parts = rows.json(parts);
  return reference;
}

void unknown(const Rows& rows, const char* what, const std::string& text) {
  rows.fail({ErrorCode::corrupt, std::string("a stored ") + what + " is unknown: " + text});
}

}  // namespace

DefinitionRow read_definition(const Rows& rows) {
  return {rows.text(0), rows.text(1), rows.text(2), rows.json(3), rows.time(4), rows.time_or_nothing(5)};
}

InstanceRow read_instance(const Rows& rows) {
  InstanceRow row;
  row.id = {rows.text(0)};
  row.program = {rows.text(1), rows.text(2), rows.text(3)};
  const auto status = status_from(rows.text(4));
  if (!status) unknown(rows, "instance status", rows.text(4));
  row.status = status.value_or(Status::suspended);
  row.version = static_cast<std::uint64_t>(rows.integer(5));
  row.reference = read_reference(rows, 6, 7);
  if (!rows.is_null(8)) row.parent = InstanceId{rows.text(8)};
  if (!rows.is_null(9)) {
    auto error = failure_from_json(rows.json(9));
    if (error) {
      row.error = std::move(*error);
    } else {
      rows.fail(with_context(error.error(), "instance " + row.id.value));
    }
  }
  row.started_at = rows.time(10);
  row.changed_at = rows.time(11);
  row.ended_at = rows.time_or_nothing(12);
  row.deleted_at = rows.time_or_nothing(13);
  row.delete_reason = rows.text(14);
  return row;
}

TaskRow read_task(const Rows& rows) {
  TaskRow row;
  row.id = {rows.text(0)};
  row.instance = {rows.text(1)};
  row.token = {rows.text(2)};
  row.step = rows.text(3);
  row.name = rows.text(4);
  row.title = rows.text(5);
  const auto status = task_status_from(rows.text(6));
  if (!status) unknown(rows, "task status", rows.text(6));
  row.status = status.value_or(TaskStatus::cancelled);
  row.version = static_cast<std::uint64_t>(rows.integer(7));
  row.roles = rows.texts(8);
  row.exclude = rows.texts(9);
  row.payload = rows.json(10);
  row.form = rows.json(11);
  row.priority = rows.integer(12);
  row.due = rows.time_or_nothing(13);
  row.deadline = rows.time_or_nothing(14);
  row.assignee = rows.text(15);
  row.reference = read_reference(rows, 16, 17);
  row.created_at = rows.time(18);
  row.changed_at = rows.time(19);
  row.completed_by = rows.text(20);
  row.completed_at = rows.time_or_nothing(21);
  row.completion = rows.json(22);
  row.managers = rows.texts(24);
  return row;
}

RunRow read_run(const Rows& rows) {
  RunRow row;
  row.id = {rows.text(0)};
  row.type = rows.text(1);
  const auto status = run_status_from(rows.text(2));
  if (!status) unknown(rows, "run status", rows.text(2));
  row.status = status.value_or(RunStatus::failed);
  row.priority = rows.integer(3);
  row.idempotency_key = rows.text(4);
  row.payload = rows.stored_json(5);
  row.result = rows.stored_json(6);
  row.error = rows.stored_json(7);
  row.last_error = rows.text(8);
  row.attempt = static_cast<int>(rows.integer(9));
  row.attempts_max = static_cast<int>(rows.integer(10));
  row.leases = static_cast<int>(rows.integer(11));
  row.fence = static_cast<std::uint64_t>(rows.integer(12));
  row.run_at = rows.time(13);
  row.lease_until = rows.time_or_nothing(14);
  row.leased_by = rows.text(15);
  read_retries(rows, 16, row);
  if (!rows.is_null(21)) row.instance = InstanceId{rows.text(21)};
  row.token = {rows.text(22)};
  row.step = rows.text(23);
  row.created_at = rows.time(24);
  row.updated_at = rows.time(25);
  row.deleted_at = rows.time_or_nothing(26);
  row.delete_reason = rows.text(27);
  row.limit_key = rows.text(28);
  return row;
}

Wait read_wait(const Rows& rows) {
  Wait wait;
  wait.token = {rows.text(0)};
  const auto kind = wait_kind_from(rows.text(1));
  if (!kind) unknown(rows, "wait", rows.text(1));
  wait.kind = kind.value_or(WaitKind::timer);
  wait.step = rows.text(2);
  wait.strand = static_cast<std::uint64_t>(rows.integer(3));
  wait.since = rows.time(4);
  wait.until = rows.time_or_nothing(5);
  wait.name = rows.text(6);
  if (!rows.is_null(7)) wait.key = Json(rows.text(7));
  wait.target = rows.text(8);
  return wait;
}

Message read_message(const Rows& rows) {
  Message message;
  message.id = rows.integer(0);
  message.target = {rows.text(1)};
  const auto kind = message_kind_from(rows.text(2));
  if (!kind) unknown(rows, "message", rows.text(2));
  message.kind = kind.value_or(Message::Kind::signal);
  message.body = rows.json(3);
  message.at = rows.time(4);
  return message;
}

DeadLetter read_dead_letter(const Rows& rows) {
  DeadLetter letter;
  letter.id = rows.integer(0);
  if (!rows.is_null(1)) letter.instance = InstanceId{rows.text(1)};
  letter.kind = rows.text(2);
  letter.envelope = rows.json(3);
  letter.reason = rows.text(4);
  letter.node = rows.text(5);
  letter.at = rows.time(6);
  return letter;
}

std::vector<RunTypeRow> read_run_types(Rows rows) {
  std::vector<RunTypeRow> types;
  const auto length = [&](int column) {
    return rows.is_null(column) ? std::nullopt : std::optional(Duration::of_ms(rows.integer(column)));
  };
  const auto count = [&](int column) {
    return rows.is_null(column) ? std::nullopt : std::optional(static_cast<int>(rows.integer(column)));
  };
  while (rows.next()) {
    RunTypeRow row;
    row.type = rows.text(0);
    row.lease = length(1);
    row.attempts_max = count(2);
    row.backoff = length(3);
    row.cap = length(4);
    row.paused = rows.boolean(5);
    row.concurrency = count(6);
    row.rate = count(7);
    row.rate_window = Duration::of_ms(rows.integer(8));
    row.limit_key = rows.text(9);
    types.push_back(std::move(row));
  }
  return types;
}

HistoryRow read_history(const Rows& rows) {
  HistoryRow row;
  row.sequence = rows.integer(0);
  row.version = static_cast<std::uint64_t>(rows.integer(1));
  if (const auto kind = log_kind_from(rows.text(2))) row.entry.kind = *kind;
  row.entry.step = rows.text(3);
  row.entry.at = rows.time(4);
  row.entry.actor = rows.text(5);
  row.entry.attempt = static_cast<int>(rows.integer(6));
  row.entry.details = rows.json(7);
  return row;
}

OutboxRow read_outbox(const Rows& rows) {
  OutboxRow row;
  row.sequence = rows.integer(0);
  row.event.id = {rows.text(1)};
  row.instance = {rows.text(2)};
  row.event.type = rows.text(3);
  row.event.subject = rows.text(4);
  row.event.data = rows.stored_json(5);
  row.created_at = rows.time(6);
  return row;
}

std::optional<std::string> reference_key(const Reference& reference) { return key_text(reference.key); }

Json reference_parts(const Reference& reference) {
  return reference.parts.is_object() && reference.parts.size() > 0 ? reference.parts : Json();
}

std::optional<std::string> key_text(const Json& key) {
  if (!key.is_string()) return std::nullopt;
  return std::string(key.as_string());
}

std::optional<std::string> text_or_null(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return text;
}

std::optional<std::string> json_or_null(const Json& value) {
  if (value.is_null()) return std::nullopt;
  return write_json(value);
}

void read_retries(const Rows& rows, int first, RunRow& row) {
  row.backoff = Duration::of_ms(rows.integer(first));
  row.factor = rows.number(first + 1);
  row.cap = Duration::of_ms(rows.integer(first + 2));
  row.jitter = rows.number(first + 3);
  if (!rows.is_null(first + 4)) row.timeout = Duration::of_ms(rows.integer(first + 4));
}

std::optional<std::string> search_tail(std::string_view text) {
  constexpr std::size_t bytes_max = 16;
  if (text.empty()) return std::nullopt;
  std::size_t from = text.size() <= bytes_max ? 0 : text.size() - bytes_max;
  while ((static_cast<unsigned char>(text[from]) & 0xC0) == 0x80) ++from;  // inside a character
  return ascii_lower(text.substr(from));
}

bool is_own_uuid(const RunId& id) { return is_plain_uuid(id.value); }

std::string run_uuid(const RunId& id) { return is_own_uuid(id) ? id.value : derived_uuid("run", id.value); }

Result<std::int64_t> read_cursor(const std::string& cursor, std::int64_t first) {
  if (cursor.empty()) return first;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(cursor.data(), cursor.data() + cursor.size(), value);
  if (error != std::errc() || end != cursor.data() + cursor.size()) {
    return Error{ErrorCode::invalid, "the cursor is not one that this list gave"};
  }
  return value;
}

}  // namespace cairn::postgres
