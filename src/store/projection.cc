#include "store/projection.h"

#include <algorithm>
#include <map>

namespace cairn {

Timestamp whole_ms(Timestamp at) { return Timestamp::of_unix_ms(at.unix_ms()); }

Timestamp whole_ms_up(Timestamp at) {
  const Timestamp down = whole_ms(at);
  return down == at ? down : after(down, Duration::of_ms(1));
}

Timestamp after(Timestamp at, Duration by) {
  return add(at, by).value_or(Timestamp{Timestamp::seconds_max, 999'000'000});
}

InstanceRow project_instance(const Snapshot& snapshot) {
  InstanceRow row;
  row.id = snapshot.instance;
  row.program = snapshot.program;
  row.status = snapshot.status;
  row.state_version = snapshot.state_version;
  row.reference = snapshot.reference;
  if (snapshot.parent) row.parent = snapshot.parent->instance;
  row.error = snapshot.error;
  row.started_at = whole_ms(snapshot.started_at);
  row.changed_at = whole_ms(snapshot.changed_at);
  if (is_final(snapshot.status)) row.ended_at = row.changed_at;
  return row;
}

TaskRow project_task(const TaskOpened& task, const InstanceId& instance, Timestamp now) {
  TaskRow row;
  row.id = task.id;
  row.instance = instance;
  row.token = task.token;
  row.step = task.step;
  row.name = task.name;
  row.title = task.title;
  row.status = task.assignee.empty() ? TaskStatus::open : TaskStatus::assigned;
  row.roles = task.roles;
  row.exclude = task.exclude;
  row.managers = task.managers;
  row.payload = task.payload;
  row.form = task.form;
  row.priority = task.priority;
  if (task.due) row.due = whole_ms(*task.due);
  if (task.deadline) row.deadline = whole_ms(*task.deadline);
  row.assignee = task.assignee;
  row.reference = task.reference;
  row.created_at = now;
  row.changed_at = now;
  return row;
}

RunRow project_run(const RunIntent& intent, const InstanceId& instance, Timestamp now) {
  RunRow row;
  row.id = intent.id;
  row.type = intent.type;
  row.idempotency_key = intent.idempotency_key;
  row.payload = intent.payload;
  row.attempts_max = intent.attempts_max;
  row.run_at = now;
  row.backoff = intent.backoff;
  row.factor = intent.factor;
  row.cap = intent.cap;
  row.jitter = intent.jitter;
  row.timeout = intent.timeout;
  row.instance = instance;
  row.token = intent.token;
  row.step = intent.step;
  row.created_at = now;
  row.updated_at = now;
  return row;
}

Timestamp attention_at(const RunRow& leased, Timestamp at) {
  const Timestamp end = leased.lease_until.value_or(at);
  return leased.timeout ? std::min(end, after(at, *leased.timeout)) : end;
}

Timestamp accepted_run_at(const RunRow& run, Timestamp at) { return std::max(whole_ms_up(run.run_at), at); }

void accept_run(RunRow& run, Timestamp at, Wakeup& wakeup) {
  run.status = RunStatus::pending;
  run.created_at = run.updated_at = at;
  run.run_at = accepted_run_at(run, at);
  wakeup.runs = true;
  if (run.run_at > at && (!wakeup.due || run.run_at < *wakeup.due)) wakeup.due = run.run_at;
}

Wait project_wait(const Wait& wait) {
  Wait row = wait;
  row.since = whole_ms(wait.since);
  if (wait.until) row.until = whole_ms_up(*wait.until);
  return row;
}

bool has_row(const Wait& wait) {
  const bool found_by_target =
      wait.kind == WaitKind::run || wait.kind == WaitKind::task || wait.kind == WaitKind::subworkflow;
  return !found_by_target || wait.until;
}

void tell_event(std::vector<RunEvent>& told, RunEvent row) {
  if (row.kind == created_leased) {
    told.push_back({row.run, "created", row.at, 0, "", Json()});
    row.kind = "leased";
  }
  told.push_back(std::move(row));
}

std::string error_line(const Json& error) {
  if (error.is_string()) return std::string(error.as_string());
  std::string line(error.text_or("code", ""));
  // Programs that read the table look for this exact text.
  if (line == "no_handler_registered") return line;
  const std::string_view message = error.text_or("message", "");
  if (!message.empty()) {
    if (!line.empty()) line += ": ";
    line += message;
  }
  return line;
}

TaskEvent::Kind event_of(TaskStatus closed) {
  switch (closed) {
    case TaskStatus::completed: return TaskEvent::Kind::completed;
    case TaskStatus::expired: return TaskEvent::Kind::expired;
    case TaskStatus::cancelled:
    case TaskStatus::open:
    case TaskStatus::assigned: break;
  }
  return TaskEvent::Kind::cancelled;
}

bool takes(const Json& wait_key, const Json& signal_key) { return wait_key.is_null() || wait_key == signal_key; }

Message message_of(const CorrelatedSignal& signal, const InstanceId& target, bool alone) {
  Message message;
  message.target = target;
  message.kind = Message::Kind::signal;
  message.body =
      Json::object({{"id", signal.id}, {"name", signal.name}, {"key", signal.key}, {"payload", signal.payload}});
  if (signal.ttl) message.body.set("ttl_ms", signal.ttl->ms_up());
  if (alone) message.body.set("alone", true);
  return message;
}

CorrelatedSignal signal_of(const Json& body) {
  CorrelatedSignal signal;
  signal.id = std::string(body.text_or("id", ""));
  signal.name = std::string(body.text_or("name", ""));
  signal.key = body["key"];
  signal.payload = body["payload"];
  if (body["ttl_ms"].is_integer()) signal.ttl = Duration::of_ms(body["ttl_ms"].as_integer());
  return signal;
}

KeptSignal kept_signal_of(std::int64_t number, const Json& body, Timestamp at, std::optional<Timestamp> until) {
  const CorrelatedSignal signal = signal_of(body);
  return {number, signal.id, signal.name, signal.key, signal.payload, at, until};
}

bool asks_for(const LeaseRequest& request, std::string_view type) {
  if (request.prefixes.empty() && request.types.empty()) return type.starts_with("default.");
  for (const std::string& prefix : request.prefixes) {
    if (type.starts_with(prefix)) return true;
  }
  return std::find(request.types.begin(), request.types.end(), type) != request.types.end();
}

std::optional<Error> contradiction(const Unit& unit) {
  if (unit.advances.size() == 1 &&
      unit.advances.front().after.state_version == unit.advances.front().from_state_version + 1) {
    return std::nullopt;
  }
  std::map<std::string, std::uint64_t> reached;
  for (const Advance& advance : unit.advances) {
    if (advance.outcome == Advance::Outcome::stale) continue;
    const std::string& id = advance.after.instance.value;
    if (advance.after.state_version != advance.from_state_version + 1) {
      return Error{ErrorCode::internal, "instance " + id + ": a commit must raise the state version by one"};
    }
    const auto [at, first] = reached.emplace(id, advance.after.state_version);
    if (!first) {
      if (advance.from_state_version != at->second) {
        return Error{ErrorCode::internal, "instance " + id + ": the advances of a unit do not follow each other"};
      }
      at->second = advance.after.state_version;
    }
  }
  return std::nullopt;
}

SinkDelivery sink_delivery_of(const std::string& sink, const SinkResult& event) {
  return {event.sequence, sink, event.attempt, whole_ms(event.at), event.kind == SinkResult::Kind::taken, event.error};
}

}  // namespace cairn
