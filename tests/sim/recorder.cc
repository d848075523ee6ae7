#include "recorder.h"

#include <algorithm>

namespace cairn::sim {

namespace {

Json texts(const std::vector<std::string>& given) {
  Json::Array items;
  for (const std::string& text : given) items.emplace_back(text);
  return items;
}

Json reference_json(const Reference& reference) {
  return Json::object({{"key", reference.key}, {"parts", reference.parts}});
}

Json error_json(const Json& error) {
  return Json::object({{"class", error["class"]},
                       {"code", error["code"]},
                       {"message", error["message"]},
                       {"details", error["details"]}});
}

// Whether a merge patch (RFC 7396) may have been applied last.
bool shows(const Json& state, const Json& patch) {
  if (!patch.is_object()) return state == patch;
  if (!state.is_object()) return false;
  for (const auto& [name, value] : patch.members()) {
    const Json* now = state.find(name.view());
    if (value.is_null() ? now != nullptr : now == nullptr || !shows(*now, value)) return false;
  }
  return true;
}

}  // namespace

void Recorder::will_signal(const std::string& id, const std::string& name, const Json& key, const Json& payload) {
  signals_[id] = Json::object({{"event", "signal"}, {"id", id}, {"name", name}, {"key", key}, {"payload", payload}});
}

void Recorder::will_request(const std::string& actor, Json entry) { requests_[actor] = std::move(entry); }

void Recorder::was_refused(const std::string& actor, const char* why, Timestamp now) {
  note(Json::object({{"event", "refused"}, {"request", requests_[actor]}, {"why", why}}), now);
  requests_.erase(actor);
}

void Recorder::will_not_retry(const RunId& run) { not_retried_.insert(run.value); }

void Recorder::took(const Message& message) { messages_[message.id] = message; }

void Recorder::note(Json entry, Timestamp now) {
  entry.set("at", now.unix_ms());
  history_.push_back(std::move(entry));
}

void Recorder::committed(const Unit& unit, Timestamp) {
  std::deque<ParentNotice> notices;
  bool first = true;
  for (const Advance& advance : unit.advances) {
    if (advance.outcome == Advance::Outcome::stale) {
      first = false;
      continue;
    }
    const InstanceId& id = advance.after.instance;
    if (advance.from_state_version == 0) {
      begun(advance);
    } else {
      Json entry;
      if (first) {
        entry = cause_of(unit, advance);
      } else {
        // Later advances of a unit are parents that heard of a child in the same decision.
        const auto notice = std::find_if(notices.begin(), notices.end(), [&](const ParentNotice& one) {
          const auto& open = advance.after.waits;
          return one.parent.instance == id && std::none_of(open.begin(), open.end(), [&](const Wait& wait) {
                   return wait.token == one.parent.token;
                 });
        });
        if (notice != notices.end()) {
          entry = child_entry(notice->parent.token);
          notices.erase(notice);
        } else {
          entry = Json::object({{"event", "unexplained"}});
        }
      }
      entry.set("instance", id.value);
      entry.set("at", advance.after.changed_at.unix_ms());
      history_.push_back(std::move(entry));
    }
    if (advance.unfinished) history_.back().set("cut", true);
    first = false;
    keep(advance);
    if (advance.notice) notices.push_back(*advance.notice);
  }
}

void Recorder::begun(const Advance& advance) {
  const Snapshot& after = advance.after;
  Json entry = Json::object({{"event", "start"},
                             {"instance", after.instance.value},
                             {"at", after.started_at.unix_ms()},
                             {"definition", after.program.name},
                             {"version", after.program.version},
                             {"input", after.input}});
  if (const auto starter = starters_.find(after.instance.value); starter != starters_.end()) {
    entry.set("starter", starter->second.instance.value);
    entry.set("step", starter->second.step);
  }
  instances_.push_back(after.instance);
  history_.push_back(std::move(entry));
}

void Recorder::keep(const Advance& advance) {
  const InstanceId& id = advance.after.instance;
  for (const Wait& wait : advance.after.waits) waits_[wait.token.value] = wait;
  for (const InstanceStart& start : advance.starts) starters_[start.id.value] = {id, start.step};
  for (const TaskOpened& task : advance.tasks_opened) tasks_.push_back(task.id);
  for (const RunIntent& run : advance.runs) runs_.push_back(run.id);
  if (advance.unfinished) {
    cut_.insert(id.value);
  } else {
    cut_.erase(id.value);
  }
}

Json Recorder::cause_of(const Unit& unit, const Advance& advance) {
  const InstanceId& id = advance.after.instance;
  if (unit.timer) {
    return Json::object(
        {{"event", "timer"}, {"step", waits_[unit.timer->token.value].step}, {"due", unit.timer->due.unix_ms()}});
  }
  if (unit.run) {
    std::string step;
    for (const auto& [token, wait] : waits_) {
      if (wait.kind == WaitKind::run && wait.target == unit.run->run.value) step = wait.step;
    }
    return run_entry(unit.run->run.value, step, unit.run->result, unit.run->error);
  }
  if (unit.message) {
    const auto message = messages_.find(*unit.message);
    if (message != messages_.end()) return cause_of(message->second, id);
  }
  if (unit.inbox) {
    if (const auto signal = signals_.find(unit.inbox->signal); signal != signals_.end()) return signal->second;
  }
  for (const TaskClosed& closed : advance.tasks_closed) {
    if (!unit.task || closed.id != unit.task->task) continue;
    Json entry =
        Json::object({{"event", "task"}, {"task", closed.id.value}, {"by", closed.by}, {"payload", closed.payload}});
    for (const auto& [token, wait] : waits_) {
      if (wait.kind != WaitKind::task || wait.target != closed.id.value) continue;
      entry.set("step", wait.step);
      entry.set("name", wait.name);
    }
    return entry;
  }
  const auto request = std::find_if(requests_.begin(), requests_.end(), [&](const auto& one) {
    const auto by_it = [&](const LogEntry& log) { return log.actor == one.first; };
    if (std::any_of(advance.log.begin(), advance.log.end(), by_it)) return true;
    // An edit runs nothing, so there is nothing to log; one that failed may still be here.
    if (!advance.log.empty() || one.second["event"] != Json("edit") || one.second["instance"] != Json(id.value)) {
      return false;
    }
    return shows(advance.after.state, one.second["patch"]);
  });
  if (request != requests_.end()) {
    Json entry = request->second;
    requests_.erase(request);
    return entry;
  }
  if (cut_.contains(id.value)) return Json::object({{"event", "continued"}});
  return Json::object({{"event", "unexplained"}});
}

Json Recorder::cause_of(const Message& message, const InstanceId& instance) {
  const Json& body = message.body;
  switch (message.kind) {
    case Message::Kind::signal:
      return Json::object({{"event", "signal"},
                           {"id", body["id"]},
                           {"name", body["name"]},
                           {"key", body["key"]},
                           {"payload", body["payload"]}});
    case Message::Kind::child_finished: return child_entry({std::string(body.text_or("token", ""))});
    case Message::Kind::run_finished: {
      const Wait& wait = waits_[std::string(body.text_or("token", ""))];
      return run_entry(wait.target, wait.step, body["result"], body["failure"]);
    }
    case Message::Kind::cancel: {
      Json entry = Json::object({{"event", "cancel"}});
      if (const auto starter = starters_.find(instance.value); starter != starters_.end()) {
        entry.set("from", starter->second.instance.value);
      }
      return entry;
    }
  }
  return Json::object({{"event", "unexplained"}});
}

Json Recorder::child_entry(const WaitToken& token) {
  const Wait& wait = waits_[token.value];
  return Json::object({{"event", "child"}, {"step", wait.step}, {"child", wait.target}});
}

Json Recorder::run_entry(const std::string& run, const std::string& step, const Json& result, const Json& error) {
  Json entry = Json::object({{"event", "run"}, {"run", run}, {"step", step}});
  if (error.is_null()) {
    entry.set("result", result);
  } else {
    entry.set("error", error_json(error));
    entry.set("attempt", error["attempt"]);
    if (not_retried_.contains(run)) entry.set("retry", false);
  }
  return entry;
}

void Recorder::retried(const RunChange& change, const RunChanged& answer, Timestamp now) {
  if (change.kind != RunChange::Kind::retry || answer.kind != RunChanged::Kind::done || !answer.row.instance) return;
  history_.push_back(Json::object({{"event", "attempt"},
                                   {"at", now.unix_ms()},
                                   {"instance", answer.row.instance->value},
                                   {"run", change.run.value},
                                   {"step", answer.row.step},
                                   {"attempt", answer.row.attempt},
                                   {"error", error_json(change.error)},
                                   {"due", answer.row.run_at.unix_ms()}}));
}

Result<Json> Recorder::finish(Store& store, Json record) {
  record.set("record", 1);
  record.set("history", history_);
  CAIRN_TRY(Json instances, rows_of_instances(store));
  CAIRN_TRY(Json tasks, rows_of_tasks(store));
  CAIRN_TRY(Json runs, rows_of_runs(store));
  record.set("instances", std::move(instances));
  record.set("tasks", std::move(tasks));
  record.set("runs", std::move(runs));
  Json::Array events;
  for (;;) {
    const SinkFilter sink{"world"};
    CAIRN_TRY(const auto rows, store.claim_outbox({&sink, 1}, {sink.name, 1000, Duration::of_seconds(3600)}));
    if (rows.empty()) break;
    std::vector<SinkResult> published;
    for (const OutboxRow& row : rows) {
      published.push_back({row.sequence, SinkResult::Kind::taken, row.attempts + 1, store.now()});
      events.push_back(Json::object({{"sequence", row.sequence},
                                     {"instance", row.instance.value},
                                     {"type", row.event.type},
                                     {"subject", row.event.subject},
                                     {"data", row.event.data}}));
    }
    CAIRN_TRY_VOID(store.record_sink_results(sink.name, published));
  }
  std::sort(events.begin(), events.end(),
            [](const Json& a, const Json& b) { return a["sequence"].as_integer() < b["sequence"].as_integer(); });
  record.set("events", events);
  return record;
}

Result<Json> Recorder::rows_of_instances(Store& store) {
  Json::Array rows;
  for (const InstanceId& id : instances_) {
    CAIRN_TRY(const auto snapshot, store.find_snapshot(id));
    if (!snapshot) return Error{ErrorCode::not_found, "instance " + id.value + " is gone"};
    Json::Array signals;
    for (const BufferedSignal& signal : snapshot->signals) signals.emplace_back(signal.name);
    Json row = Json::object({{"id", id.value},
                             {"definition", snapshot->program.name},
                             {"version", snapshot->program.version},
                             {"status", to_string(snapshot->status)},
                             {"state", snapshot->state},
                             {"output", snapshot->output},
                             {"reference", reference_json(snapshot->reference)},
                             {"signals", signals}});
    if (snapshot->error) row.set("error", to_json(*snapshot->error));
    if (const auto starter = starters_.find(id.value); starter != starters_.end()) {
      row.set("starter", starter->second.instance.value);
    }
    rows.push_back(std::move(row));
  }
  return Json(rows);
}

Result<Json> Recorder::rows_of_tasks(Store& store) {
  Json::Array rows;
  for (const TaskId& id : tasks_) {
    CAIRN_TRY(const auto task, store.find_task(id));
    if (!task) return Error{ErrorCode::not_found, "task " + id.value + " is gone"};
    Json row = Json::object({{"id", id.value},
                             {"instance", task->instance.value},
                             {"step", task->step},
                             {"name", task->name},
                             {"title", task->title},
                             {"status", to_string(task->status)},
                             {"roles", texts(task->roles)},
                             {"exclude", texts(task->exclude)},
                             {"payload", task->payload}});
    if (task->status == TaskStatus::completed) {
      row.set("completed_by", task->completed_by);
      row.set("completion", task->completion);
    }
    rows.push_back(std::move(row));
  }
  return Json(rows);
}

Result<Json> Recorder::rows_of_runs(Store& store) {
  Json::Array rows;
  for (const RunId& id : runs_) {
    CAIRN_TRY(const auto run, store.find_run(id));
    if (!run) return Error{ErrorCode::not_found, "run " + id.value + " is gone"};
    rows.push_back(Json::object({{"id", id.value},
                                 {"instance", run->instance ? Json(run->instance->value) : Json()},
                                 {"step", run->step},
                                 {"type", run->type},
                                 {"idempotency_key", run->idempotency_key},
                                 {"payload", run->payload},
                                 {"status", to_string(run->status)},
                                 {"attempt", run->attempt},
                                 {"attempts_max", run->attempts_max}}));
  }
  return Json(rows);
}

}  // namespace cairn::sim
