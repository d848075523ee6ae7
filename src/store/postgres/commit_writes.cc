#include "store/postgres/commit_writes.h"

#include <algorithm>

#include "store/postgres/row_reading.h"
#include "store/projection.h"

namespace cairn::postgres {

namespace {

Json name_list(const std::vector<std::string>& list) {
  Json::Array items;
  for (const std::string& name : list) items.emplace_back(name);
  return Json::array(std::move(items));
}

}  // namespace

void CommitWrites::instance(std::int64_t number, bool is_new, std::uint64_t from_version, const Snapshot& after,
                            const std::string& encoded, const std::string& node, Timestamp now) {
  const InstanceRow row = project_instance(after);
  const Json error = row.error ? to_json(*row.error) : Json();
  Instances& to = is_new ? new_instances_ : instances_;
  to.numbers.add(number);
  to.ids.add(row.id.value);
  to.definitions.add(row.program.name);
  to.versions.add(row.program.version);
  to.digests.add(row.program.digest);
  to.statuses.add(std::string(to_string(row.status)));
  to.reference_keys.add(reference_key(row.reference));
  to.reference_parts.add(Jsonb{reference_parts(row.reference)});
  to.parents.add(row.parent ? std::optional(row.parent->value) : std::nullopt);
  to.errors.add(Jsonb{error});
  to.started.add(row.started_at);
  to.changed.add(row.changed_at);
  to.ended.add(row.ended_at);

  States& state = is_new ? new_states_ : states_;
  const Wait* first = after.waits.empty() ? nullptr : &after.waits.front();
  const auto task = std::find_if(after.waits.begin(), after.waits.end(),
                                 [](const Wait& wait) { return wait.kind == WaitKind::task; });
  state.numbers.add(number);
  state.versions.add(static_cast<std::int64_t>(after.version));
  state.from_versions.add(static_cast<std::int64_t>(from_version));
  state.formats.add(snapshot_format);
  state.kinds.add(first ? std::optional<std::string>(to_string(first->kind)) : std::nullopt);
  state.tokens.add(first ? std::optional(first->token.value) : std::nullopt);
  state.until.add(first && first->until ? std::optional(whole_ms_up(*first->until)) : std::nullopt);
  state.tasks.add(task != after.waits.end() ? std::optional(task->target) : std::nullopt);
  state.pointers.add(after.strands.empty() ? std::nullopt : std::optional(resume_pointer(after.strands.front())));
  state.signals.add(text_or_null(after.last_event));
  state.codes.add(after.error ? std::optional(after.error->code) : std::nullopt);
  state.errors.add(json_or_null(error));
  state.nodes.add(text_or_null(node));
  state.times.add(now);
  state.snapshots.add(encoded.empty() ? encode_snapshot(after) : encoded);
}

void CommitWrites::close_wait(std::int64_t instance, const std::string& token) {
  closed_instances_.add(instance);
  closed_tokens_.add(token);
}

void CommitWrites::close_waits(std::int64_t instance) { ended_instances_.add(instance); }

void CommitWrites::open_wait(std::int64_t instance, const Wait& wait) {
  waits_.instances.add(instance);
  waits_.tokens.add(wait.token.value);
  waits_.kinds.add(std::string(to_string(wait.kind)));
  waits_.steps.add(wait.step);
  waits_.strands.add(static_cast<std::int64_t>(wait.strand));
  waits_.since.add(wait.since);
  waits_.until.add(wait.until);
  waits_.names.add(wait.name);
  waits_.keys.add(key_text(wait.key));
  waits_.targets.add(wait.target);
}

void CommitWrites::timer(Timestamp due, std::int64_t instance, const std::string& token) {
  timers_.due.add(due);
  timers_.instances.add(instance);
  timers_.tokens.add(token);
}

void CommitWrites::timer_gone(Timestamp due, std::int64_t instance, const std::string& token) {
  gone_timers_.due.add(due);
  gone_timers_.instances.add(instance);
  gone_timers_.tokens.add(token);
}

void CommitWrites::task(const TaskRow& row, std::int64_t instance) {
  tasks_.ids.add(row.id.value);
  tasks_.instances.add(instance);
  tasks_.instance_ids.add(row.instance.value);
  tasks_.tokens.add(row.token.value);
  tasks_.steps.add(row.step);
  tasks_.names.add(row.name);
  tasks_.titles.add(row.title);
  tasks_.statuses.add(std::string(to_string(row.status)));
  tasks_.roles.add(Jsonb{name_list(row.roles)});
  tasks_.exclude.add(Jsonb{name_list(row.exclude)});
  tasks_.payloads.add(Jsonb{row.payload});
  tasks_.forms.add(Jsonb{row.form});
  tasks_.priorities.add(row.priority);
  tasks_.due.add(row.due);
  tasks_.deadlines.add(row.deadline);
  tasks_.assignees.add(text_or_null(row.assignee));
  tasks_.reference_keys.add(reference_key(row.reference));
  tasks_.reference_parts.add(Jsonb{reference_parts(row.reference)});
}

void CommitWrites::close_task(const TaskClosed& task, Timestamp now) {
  const bool completed = task.status == TaskStatus::completed;
  closed_tasks_.ids.add(task.id.value);
  closed_tasks_.statuses.add(std::string(to_string(task.status)));
  closed_tasks_.by.add(completed ? std::optional(task.by) : std::nullopt);
  closed_tasks_.at.add(completed ? std::optional(now) : std::nullopt);
  closed_tasks_.completions.add(Jsonb{completed ? task.payload : Json()});
}

void CommitWrites::task_event(const TaskId& task, TaskEvent::Kind kind, const std::string& actor, const Json& details) {
  task_events_.tasks.add(task.value);
  task_events_.kinds.add(std::string(to_string(kind)));
  task_events_.actors.add(actor);
  task_events_.details.add(Jsonb{details});
}

void CommitWrites::cancel_run(const RunId& run) { cancelled_runs_.add(Uuid{run_uuid(run)}); }

void CommitWrites::end_run(const RunEnd& end) {
  ended_runs_.ids.add(Uuid{run_uuid(end.run)});
  ended_runs_.statuses.add(std::string(to_string(end.status)));
  ended_runs_.results.add(Jsonb{end.result});
  ended_runs_.errors.add(Jsonb{end.error});
  ended_runs_.last_errors.add(end.status == RunStatus::failed ? std::optional(error_line(end.error)) : std::nullopt);
}

void CommitWrites::run_event(const RunId& run, const char* kind, int attempt, const std::string& actor,
                             const Json& details, Timestamp now) {
  if (!run_events) return;
  run_events_.runs.add(Uuid{run_uuid(run)});
  run_events_.kinds.add(std::string(kind));
  run_events_.times.add(now);
  run_events_.attempts.add(attempt);
  run_events_.actors.add(actor);
  run_events_.details.add(Jsonb{details});
}

void CommitWrites::outbox(const InstanceId& instance, const OutboxEntry& entry) {
  outbox_.ids.add(entry.event.id.value);
  outbox_.instances.add(instance.value);
  outbox_.types.add(entry.event.type);
  outbox_.subjects.add(entry.event.subject);
  outbox_.data.add(Jsonb{entry.event.data});
  outbox_.published.add(entry.published);
}

void CommitWrites::log(std::int64_t instance, std::uint64_t version, const LogEntry& entry) {
  log_.instances.add(instance);
  log_.versions.add(static_cast<std::int64_t>(version));
  log_.kinds.add(std::string(to_string(entry.kind)));
  log_.steps.add(entry.step);
  log_.times.add(whole_ms(entry.at));
  log_.actors.add(entry.actor);
  log_.attempts.add(entry.attempt);
  log_.details.add(Jsonb{entry.details});
}

void CommitWrites::inbox(std::int64_t instance, const std::string& signal) {
  inbox_.instances.add(instance);
  inbox_.signals.add(signal);
}

void CommitWrites::message(std::int64_t target, const Message& message) {
  const bool signal = message.kind == Message::Kind::signal;
  messages_.targets.add(target);
  messages_.kinds.add(std::string(to_string(message.kind)));
  messages_.names.add(signal ? text_or_null(std::string(message.body.text_or("name", ""))) : std::nullopt);
  messages_.keys.add(signal ? key_text(message.body["key"]) : std::nullopt);
  messages_.bodies.add(write_json(message.body));
}

void CommitWrites::dead_letter(const DeadLetter& letter) {
  letters_.instances.add(letter.instance ? std::optional(letter.instance->value) : std::nullopt);
  letters_.kinds.add(letter.kind);
  letters_.envelopes.add(write_json(letter.envelope));
  letters_.reasons.add(letter.reason);
  letters_.nodes.add(letter.node);
}

void CommitWrites::send(Connection& db, Timestamp now) {
  if (!new_instances_.numbers.empty()) {
    const Instances& i = new_instances_;
    db.send(Sql::insert_instances, i.numbers, i.ids, i.definitions, i.versions, i.digests, i.statuses, i.reference_keys,
            i.reference_parts, i.parents, i.errors, i.started, i.changed, i.ended);
    const States& s = new_states_;
    db.send(Sql::insert_states, s.numbers, s.versions, s.formats, s.kinds, s.tokens, s.until, s.tasks, s.pointers,
            s.signals, s.codes, s.errors, s.nodes, s.times, s.snapshots);
  }
  if (!instances_.numbers.empty()) {
    const Instances& i = instances_;
    const States& s = states_;
    db.send(Sql::update_states, s.numbers, s.versions, s.formats, s.kinds, s.tokens, s.until, s.tasks, s.pointers,
            s.signals, s.codes, s.errors, s.nodes, s.times, s.snapshots, s.from_versions);
    db.send(Sql::update_instances, i.numbers, i.definitions, i.versions, i.digests, i.statuses, i.reference_keys,
            i.reference_parts, i.errors, i.changed, i.ended);
  }
  if (!ended_instances_.empty()) db.send(Sql::remove_waits, ended_instances_);
  if (!closed_tokens_.empty()) db.send(Sql::close_waits, closed_instances_, closed_tokens_);
  if (!waits_.tokens.empty()) {
    db.send(Sql::open_waits, waits_.instances, waits_.tokens, waits_.kinds, waits_.steps, waits_.strands, waits_.since,
            waits_.until, waits_.names, waits_.keys, waits_.targets);
  }
  if (!timers_.due.empty()) db.send(Sql::insert_timers, timers_.due, timers_.instances, timers_.tokens);
  if (!gone_timers_.due.empty()) {
    db.send(Sql::delete_timers, gone_timers_.due, gone_timers_.instances, gone_timers_.tokens);
  }
  if (!tasks_.ids.empty()) {
    const auto& t = tasks_;
    db.send(Sql::insert_tasks, t.ids, t.instances, t.instance_ids, t.tokens, t.steps, t.names, t.titles, t.statuses,
            t.roles, t.exclude, t.payloads, t.forms, t.priorities, t.due, t.deadlines, t.assignees, t.reference_keys,
            t.reference_parts, now);
  }
  if (!closed_tasks_.ids.empty()) {
    const auto& c = closed_tasks_;
    db.send(Sql::close_tasks, c.ids, c.statuses, c.by, c.at, c.completions, now);
  }
  if (!task_events_.tasks.empty()) {
    const auto& e = task_events_;
    db.send(Sql::insert_task_events, e.tasks, e.kinds, e.actors, e.details, now);
  }
  if (!ended_runs_.ids.empty()) {
    const auto& e = ended_runs_;
    db.send(Sql::end_runs, e.ids, e.statuses, e.results, e.errors, e.last_errors, now);
  }
  if (!cancelled_runs_.empty()) {
    db.send(Sql::cancel_runs, cancelled_runs_, now);
    db.send(Sql::unqueue_runs, cancelled_runs_);
  }
  if (!run_events_.runs.empty()) {
    const auto& e = run_events_;
    db.send(Sql::insert_run_events, e.runs, e.kinds, e.times, e.attempts, e.actors, e.details);
  }
  if (!outbox_.ids.empty()) {
    const auto& o = outbox_;
    db.send(Sql::insert_outbox, o.ids, o.instances, o.types, o.subjects, o.data, o.published, now);
  }
  if (!log_.instances.empty()) {
    const auto& l = log_;
    db.send(Sql::insert_log, l.instances, l.versions, l.kinds, l.steps, l.times, l.actors, l.attempts, l.details);
  }
  if (!gone_messages_.empty()) db.send(Sql::delete_messages, gone_messages_);
  if (!inbox_.instances.empty()) db.send(Sql::insert_inbox, inbox_.instances, inbox_.signals, now);
  if (!messages_.targets.empty()) {
    const auto& m = messages_;
    db.send(Sql::insert_messages, m.targets, m.kinds, m.names, m.keys, m.bodies, now);
  }
  if (!letters_.kinds.empty()) {
    const auto& l = letters_;
    db.send(Sql::insert_dead_letters, l.instances, l.kinds, l.envelopes, l.reasons, l.nodes, now);
  }
}

}  // namespace cairn::postgres
