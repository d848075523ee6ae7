#include "store/postgres/commit/commit_writes.h"

#include <algorithm>

#include "store/postgres/wire/row_reading.h"
#include "store/projection.h"

namespace cairn::postgres {

namespace {

Json name_list(const std::vector<std::string>& list) {
  Json::Array items;
  for (const std::string& name : list) items.emplace_back(name);
  return Json::array(std::move(items));
}

std::optional<std::string_view> view_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return text;
}

std::optional<Timestamp> ended_at(const Snapshot& snapshot) {
  if (!is_final(snapshot.status)) return std::nullopt;
  return whole_ms(snapshot.changed_at);
}

}  // namespace

void CommitWrites::instance(std::int64_t number, bool is_new, std::uint64_t from_state_version, const Snapshot& after,
                            bool renamed, std::string_view encoded, const std::string& node) {
  Moved moved{&after, from_state_version, renamed, encoded, &node};
  if (!is_new) {
    // If there are several, only the last is written, with the changes of all of them.
    if (const auto earlier = moved_.find(number); earlier != moved_.end()) moved.renamed |= earlier->second.renamed;
    moved_[number] = moved;
    return;
  }
  const Json parts = reference_parts(after.reference);
  const Json error = after.error ? to_json(*after.error) : Json();
  new_instances_.add(number, after.instance.value, after.program.name, after.program.version, after.program.digest,
                     to_string(after.status), reference_key(after.reference), Jsonb{parts},
                     after.parent ? view_of(after.parent->instance.value) : std::nullopt, Jsonb{error},
                     whole_ms(after.started_at), whole_ms(after.changed_at), ended_at(after));
  add_state(new_states_, number, moved);
}

void CommitWrites::add_state(RowList& to, std::int64_t number, const Moved& moved) {
  const Snapshot& after = *moved.after;
  const Wait* first = after.waits.empty() ? nullptr : &after.waits.front();
  const auto task = std::find_if(after.waits.begin(), after.waits.end(),
                                 [](const Wait& wait) { return wait.kind == WaitKind::task; });
  to.add(number, after.state_version, moved.from_state_version, format_of(moved.encoded),
         first ? std::optional<std::string_view>(to_string(first->kind)) : std::nullopt,
         first ? std::optional<std::string_view>(first->token.value) : std::nullopt,
         first && first->until ? std::optional(whole_ms_up(*first->until)) : std::nullopt,
         task != after.waits.end() ? std::optional<std::string_view>(task->target) : std::nullopt,
         after.strands.empty() ? std::nullopt : std::optional(resume_pointer(after.strands.front())),
         view_of(after.last_event), after.error ? std::optional(after.error->code) : std::nullopt,
         after.error ? json_or_null(to_json(*after.error)) : std::nullopt, view_of(*moved.node),
         moved.encoded);
}

void CommitWrites::close_wait(std::int64_t instance, const std::string& token) {
  closed_instances_.add(instance);
  closed_tokens_.add(token);
}

void CommitWrites::close_waits(std::int64_t instance) { ended_instances_.add(instance); }

void CommitWrites::open_wait(std::int64_t instance, bool is_new, const Wait& wait) {
  (is_new ? first_waits_ : waits_)
      .add(instance, wait.token.value, to_string(wait.kind), wait.step, static_cast<std::int64_t>(wait.strand),
           whole_ms(wait.since), wait.until ? std::optional(whole_ms_up(*wait.until)) : std::nullopt, wait.name,
           key_text(wait.key), wait.target);
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
  tasks_.managers.add(Jsonb{name_list(row.managers)});
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

void CommitWrites::end_run(const RunEnd& end) { ended_runs_[run_uuid(end.run)] = &end; }

void CommitWrites::run_event(const RunId& run, std::string_view kind, int attempt, const std::string& actor,
                             const Json& details, Timestamp now) {
  run_events.add(Uuid{run_uuid(run)}, kind, now, attempt, actor, Jsonb{details});
}

void CommitWrites::outbox(const InstanceId& instance, const OutboxEntry& entry) {
  outbox_.ids.add(entry.event.id.value);
  outbox_.instances.add(instance.value);
  outbox_.types.add(entry.event.type);
  outbox_.subjects.add(entry.event.subject);
  outbox_.data.add(Jsonb{entry.event.data});
  outbox_.published.add(entry.published);
}

void CommitWrites::log(std::int64_t instance, std::uint64_t state_version, const LogEntry& entry) {
  log_.push_back({instance, state_version, &entry});
}

// In index order, so that neighbours share a page and each page is searched once.
void CommitWrites::send_log(Connection& db) const {
  std::vector<Line> lines = log_;
  std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.instance < b.instance; });
  RowList rows{RowType::log};
  for (const auto& [instance, state_version, entry] : lines) {
    rows.add(instance, state_version, to_string(entry->kind), entry->step, whole_ms(entry->at), entry->actor,
             entry->attempt, Jsonb{entry->details}, text_or_null(entry->visit));
  }
  db.send(Sql::insert_log, rows);
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

void CommitWrites::send_changes(Connection& db, Timestamp now) const {
  if (!moved_.empty()) {
    RowList states{RowType::state}, renamed{RowType::instance};
    Column<std::int64_t> numbers;
    Column<std::string> statuses;
    Column<Jsonb> errors;
    Column<Timestamp> changed, ended;
    const std::optional<std::string> stays;
    const std::optional<Timestamp> begun;
    for (const auto& [number, moved] : moved_) {
      add_state(states, number, moved);
      const Snapshot& after = *moved.after;
      const Json error = after.error ? to_json(*after.error) : Json();
      if (!moved.renamed) {
        numbers.add(number);
        statuses.add(std::string(to_string(after.status)));
        errors.add(Jsonb{error});
        changed.add(whole_ms(after.changed_at));
        ended.add(ended_at(after));
        continue;
      }
      const Json parts = reference_parts(after.reference);
      renamed.add(number, stays, after.program.name, after.program.version, after.program.digest,
                  to_string(after.status), reference_key(after.reference), Jsonb{parts}, stays, Jsonb{error}, begun,
                  whole_ms(after.changed_at), ended_at(after));
    }
    db.send(Sql::update_states, states, now);
    if (!numbers.empty()) db.send(Sql::update_like_instances, numbers, statuses, errors, changed, ended);
    if (!renamed.empty()) db.send(Sql::update_instances, renamed);
  }
  if (!gone_messages_.empty()) db.send(Sql::delete_messages, gone_messages_);
  if (!gone_timers_.due.empty()) {
    db.send(Sql::fire_timers, gone_timers_.due, gone_timers_.instances, gone_timers_.tokens);
  }
  if (!ended_runs_.empty()) {
    RowList ends{RowType::run_end};
    for (const auto& [uuid, end] : ended_runs_) {
      ends.add(Uuid{uuid}, end->fence, to_string(end->status), Jsonb{end->result}, Jsonb{end->error},
               end->status == RunStatus::failed ? std::optional(error_line(end->error)) : std::nullopt);
    }
    db.send(Sql::end_runs, ends, now);
  }
}

void CommitWrites::send_additions(Connection& db, Timestamp now) const {
  if (!new_instances_.empty()) {
    db.send(Sql::insert_instances, new_instances_);
    db.send(Sql::insert_states, new_states_, now);
  }
  if (!ended_instances_.empty()) db.send(Sql::remove_waits, ended_instances_);
  if (!closed_tokens_.empty()) db.send(Sql::close_waits, closed_instances_, closed_tokens_);
  if (!first_waits_.empty()) db.send(Sql::insert_waits, first_waits_);
  if (!waits_.empty()) db.send(Sql::open_waits, waits_);
  if (!timers_.due.empty()) db.send(Sql::insert_timers, timers_.due, timers_.instances, timers_.tokens);
  if (!tasks_.ids.empty()) {
    const auto& t = tasks_;
    db.send(Sql::insert_tasks, t.ids, t.instances, t.instance_ids, t.tokens, t.steps, t.names, t.titles, t.statuses,
            t.roles, t.exclude, t.payloads, t.forms, t.priorities, t.due, t.deadlines, t.assignees, t.reference_keys,
            t.reference_parts, t.managers, now);
  }
  if (!closed_tasks_.ids.empty()) {
    const auto& c = closed_tasks_;
    db.send(Sql::close_tasks, c.ids, c.statuses, c.by, c.at, c.completions, now);
  }
  if (!task_events_.tasks.empty()) {
    const auto& e = task_events_;
    db.send(Sql::insert_task_events, e.tasks, e.kinds, e.actors, e.details, now);
  }
  if (!cancelled_runs_.empty()) {
    db.send(Sql::cancel_runs, cancelled_runs_, now);
    db.send(Sql::unqueue_runs, cancelled_runs_);
  }
  if (!outbox_.ids.empty()) {
    const auto& o = outbox_;
    db.send(Sql::insert_outbox, o.ids, o.instances, o.types, o.subjects, o.data, o.published, now);
  }
  if (!log_.empty()) send_log(db);
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
