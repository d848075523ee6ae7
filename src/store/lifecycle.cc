#include "store/lifecycle.h"

#include <algorithm>

#include "base/id.h"
#include "instance/carried_trace.h"

namespace cairn {
namespace {

// Ids are derived from what happened, so the same commit gives the same events on every machine.
OutboxEntry entry(std::string id, std::string type, const std::string& subject, Json data, std::string_view trace,
                  const EventPolicy& policy) {
  return {{{std::move(id)}, std::move(type), subject, with_trace(std::move(data), trace)}, !policy.dispatched};
}

Json about(const Snapshot& snapshot) {
  Json data = Json::object({{"instance", snapshot.instance.value},
                            {"definition", snapshot.program.name},
                            {"definition_version", snapshot.program.version},
                            {"state_version", static_cast<std::int64_t>(snapshot.state_version)},
                            {"status", to_string(snapshot.status)}});
  if (!snapshot.reference.key.is_null()) data.set("reference", snapshot.reference.key);
  if (snapshot.parent) data.set("parent", snapshot.parent->instance.value);
  return data;
}

OutboxEntry instance_event(const Snapshot& after, const char* what, const EventPolicy& policy) {
  Json data = about(after);
  if (after.status == Status::completed) data.set("output", after.output);
  if (after.error) data.set("error", to_json(*after.error));
  const std::string& id = after.instance.value;
  return entry(id + "/" + std::to_string(after.state_version) + "/" + what, std::string("cairn.instance.") + what, id,
               std::move(data), carried_by(after), policy);
}

bool has_log(const Advance& advance, LogEntry::Kind kind) {
  return std::any_of(advance.log.begin(), advance.log.end(), [kind](const LogEntry& log) { return log.kind == kind; });
}

bool was_suspended(const Advance& advance) {
  return advance.after.status == Status::suspended && has_log(advance, LogEntry::Kind::suspended);
}

Json about(const TaskOpened& task, const InstanceId& instance) {
  Json::Array roles;
  for (const std::string& role : task.roles) roles.emplace_back(role);
  Json data = Json::object({{"instance", instance.value},
                            {"task", task.id.value},
                            {"name", task.name},
                            {"title", task.title},
                            {"step", task.step},
                            {"roles", Json(std::move(roles))}});
  if (!task.assignee.empty()) data.set("assignee", task.assignee);
  if (task.due) data.set("due", format_timestamp(*task.due));
  if (task.deadline) data.set("deadline", format_timestamp(*task.deadline));
  return data;
}

void add_tasks(const Advance& advance, const EventPolicy& policy, std::vector<OutboxEntry>& events) {
  const std::string& instance = advance.after.instance.value;
  const std::string trace = carried_by(advance.after);
  for (const TaskClosed& closed : advance.tasks_closed) {
    Json data = Json::object({{"instance", instance}, {"task", closed.id.value}, {"status", to_string(closed.status)}});
    if (!closed.by.empty()) data.set("by", closed.by);
    if (closed.status == TaskStatus::completed) data.set("completion", closed.payload);
    events.push_back(entry(closed.id.value + "/" + to_string(closed.status),
                           std::string("cairn.task.") + to_string(closed.status), instance, std::move(data), trace,
                           policy));
  }
  for (const TaskOpened& opened : advance.tasks_opened) {
    events.push_back(entry(opened.id.value + "/opened", "cairn.task.opened", instance,
                           about(opened, advance.after.instance), trace, policy));
  }
}

}  // namespace

bool is_incident(const Advance& advance) {
  const Snapshot& after = advance.after;
  // An operator who suspends an instance leaves no error.
  return after.status == Status::failed || (was_suspended(advance) && after.error);
}

std::vector<OutboxEntry> events_of(const Advance& advance, const EventPolicy& policy) {
  std::vector<OutboxEntry> events;
  const Snapshot& after = advance.after;
  if (policy.instances) {
    if (advance.from_state_version == 0) events.push_back(instance_event(after, "started", policy));
    if (has_log(advance, LogEntry::Kind::resumed)) events.push_back(instance_event(after, "resumed", policy));
  }
  for (const OutboxEvent& emitted : advance.outbox) {
    events.push_back({emitted, false});
    if (!after.trace.empty()) events.back().event.data = with_trace(emitted.data, carried_by(after));
  }
  if (policy.tasks) add_tasks(advance, policy, events);
  if (policy.instances) {
    if (is_final(after.status)) {
      events.push_back(instance_event(after, to_string(after.status), policy));
    } else if (was_suspended(advance)) {
      events.push_back(instance_event(after, "suspended", policy));
    }
  } else if (policy.incidents && is_incident(advance)) {
    events.push_back(instance_event(after, to_string(after.status), policy));
  }
  return events;
}

std::optional<OutboxEntry> event_of(const RunEnd& end, const InstanceId& instance, const EventPolicy& policy) {
  if (!policy.runs) return std::nullopt;
  Json data = Json::object({{"run", end.run.value}, {"status", to_string(end.status)}});
  if (!instance.value.empty()) data.set("instance", instance.value);
  if (end.status == RunStatus::failed) data.set("error", end.error);
  return entry(end.run.value + "/" + to_string(end.status), std::string("cairn.run.") + to_string(end.status),
               instance.value.empty() ? end.run.value : instance.value, std::move(data), end.trace, policy);
}

std::optional<OutboxEntry> event_of_cancel(const RunRow& row, const EventPolicy& policy) {
  if (!policy.runs) return std::nullopt;
  Json data = Json::object({{"run", row.id.value}, {"type", row.type}, {"status", "cancelled"}});
  if (row.instance) data.set("instance", row.instance->value);
  return entry(row.id.value + "/cancelled", "cairn.run.cancelled", row.instance ? row.instance->value : row.id.value,
               std::move(data), trace_in(row.payload), policy);
}

std::optional<OutboxEntry> event_of(const TaskChange& change, const TaskRow& row, const EventPolicy& policy) {
  if (!policy.tasks) return std::nullopt;
  const char* what = nullptr;
  switch (change.kind) {
    case TaskChange::Kind::assign: what = "assigned"; break;
    case TaskChange::Kind::reassign: what = "reassigned"; break;
    case TaskChange::Kind::release: what = "released"; break;
    case TaskChange::Kind::comment: return std::nullopt;
  }
  Json data = Json::object({{"instance", row.instance.value},
                            {"task", row.id.value},
                            {"name", row.name},
                            {"status", to_string(row.status)},
                            {"by", change.actor}});
  if (!row.assignee.empty()) data.set("assignee", row.assignee);
  return entry(row.id.value + "/" + std::to_string(row.state_version) + "/" + what, std::string("cairn.task.") + what,
               row.instance.value, std::move(data), change.trace, policy);
}

std::vector<OutboxEntry> events_of_parking(const InstanceId& id, const Failure& why, Timestamp at,
                                           const EventPolicy& policy) {
  std::vector<OutboxEntry> events;
  const auto add = [&](const char* what, const char* type) {
    events.push_back(entry(id.value + "/" + what + "/" + std::to_string(at.unix_ms()), type, id.value,
                           Json::object({{"instance", id.value}, {"status", "suspended"}, {"error", to_json(why)}}), "",
                           policy));
  };
  if (policy.incidents && why.code == definition_missing) add("unavailable", "cairn.definition.unavailable");
  if (policy.instances || policy.incidents) add("parked", "cairn.instance.suspended");
  return events;
}

OutboxEvent exhausted_event(const RunRow& run, const Failure& failure) {
  Json data =
      Json::object({{"run", run.id.value}, {"type", run.type}, {"attempts", run.attempt}, {"error", to_json(failure)}});
  if (run.instance) data.set("instance", run.instance->value);
  return {{run.id.value + "/exhausted"},
          "cairn.run.exhausted",
          run.instance ? run.instance->value : run.id.value,
          with_trace(std::move(data), trace_in(run.payload))};
}

OutboxEvent lease_lost_event(const RunRow& run, std::uint64_t lost_fence, const std::string& worker) {
  Json data =
      Json::object({{"run", run.id.value}, {"type", run.type}, {"worker", worker}, {"status", to_string(run.status)}});
  if (run.instance) data.set("instance", run.instance->value);
  return {{run.id.value + "/lease_lost/" + std::to_string(lost_fence)},
          "cairn.run.lease_lost",
          run.instance ? run.instance->value : run.id.value,
          with_trace(std::move(data), trace_in(run.payload))};
}

InstanceId instance_of(const OutboxEvent& incident) { return {std::string(incident.data.text_or("instance", ""))}; }

std::optional<OutboxEntry> entry_of(const OutboxEvent& incident, const EventPolicy& policy) {
  if (!policy.incidents) return std::nullopt;
  return OutboxEntry{incident, !policy.dispatched};
}

std::optional<OutboxEntry> event_of(const DeadLetter& letter, Timestamp at, const EventPolicy& policy) {
  if (!policy.incidents) return std::nullopt;
  const std::string instance = letter.instance ? letter.instance->value : std::string();
  const std::string id = derived_uuid(letter.kind + " " + instance + " " + letter.reason, write_json(letter.envelope),
                                      static_cast<std::uint64_t>(at.unix_ms()));
  Json data = Json::object({{"kind", letter.kind}, {"reason", letter.reason}, {"node", letter.node}});
  if (letter.instance) data.set("instance", instance);
  for (const char* const name : {"run", "type"}) {
    if (letter.envelope[name].is_string()) data.set(name, letter.envelope[name]);
  }
  return entry("dead_letter/" + id, "cairn.dead_letter.created", instance.empty() ? id : instance, std::move(data), "",
               policy);
}

namespace {

Json about(const KeptSignal& signal) {
  Json data = Json::object({{"id", signal.id}, {"name", signal.name}, {"key", signal.key}});
  data.set("at", format_timestamp(signal.at));
  if (signal.until) data.set("until", format_timestamp(*signal.until));
  return data;
}

}  // namespace

OutboxEntry event_of_expiry(const KeptSignal& signal, Timestamp at, const EventPolicy& policy) {
  const std::string& subject = signal.id.empty() ? signal.name : signal.id;
  Json data = Json::object({{"instance", Json()}, {"signal", about(signal)}});
  return entry(subject + "/expired/" + std::to_string(signal.number) + "/" + std::to_string(at.unix_ms()),
               "cairn.signal.expired", subject, std::move(data), "", policy);
}

DeadLetter letter_of_expiry(const KeptSignal& signal) {
  DeadLetter letter;
  letter.kind = "signal";
  letter.envelope = about(signal);
  letter.envelope.set("payload", signal.payload);
  letter.reason = "expired: no instance waited for signal " + signal.name + " before its time to live was over";
  letter.node = "store";  // any node may find it
  return letter;
}

InstanceId instance_of_run(const Unit& unit) {
  return unit.advances.empty() ? InstanceId{} : unit.advances.front().after.instance;
}

}  // namespace cairn
