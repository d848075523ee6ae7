#include "store/sqlite/sqlite_commit.h"

#include <algorithm>

#include "store/projection.h"
#include "store/sqlite/row_reading.h"

namespace cairn {

using sqlite::json_text;
using sqlite::Query;
using sqlite::Sql;
using sqlite::text_or_null;
using sqlite::Transaction;

namespace {

Json names(const std::vector<std::string>& list) {
  Json::Array items;
  for (const std::string& name : list) items.emplace_back(name);
  return Json::array(std::move(items));
}

std::optional<Json> error_json(const std::optional<Failure>& error) {
  if (!error) return std::nullopt;
  return to_json(*error);
}

}  // namespace

Result<std::vector<CommitOutcome>> SqliteStore::commit(std::span<const Unit> units) {
  return commit_unsynced(units, {});
}

Result<std::vector<CommitOutcome>> SqliteStore::commit_unsynced(std::span<const Unit> units, const MoreUnits& more) {
  std::vector<CommitOutcome> outcomes;
  std::vector<const Unit*> given;
  Wakeup wakeup;
  {
    const std::lock_guard lock(writer_mutex_);
    if (auto refused = refusal()) return *refused;
    SqliteCommit batch(*this);
    auto written = batch.run(units, more, given);
    if (written) {
      outcomes = std::move(*written);
      wakeup = batch.wakeup();
      write_failed_ = false;
    } else if (const ErrorCode code = failed(written.error()).code;
               code != ErrorCode::conflict && code != ErrorCode::corrupt) {
      return written.error();
    } else if (given.size() == 1) {
      outcomes.push_back(outcome_of(CommitOutcome::Kind::failed, written.error()));
    }
    // One unit violated a constraint of the tables, which only bad data can cause, or it needs a damaged page. It must
    // not block the others, so each unit gets its own transaction.
    for (std::size_t i = 0; outcomes.size() < given.size(); ++i) {
      SqliteCommit single(*this);
      std::vector<const Unit*> alone;
      auto one = single.run(std::span(given[i], 1), {}, alone);
      if (one) {
        outcomes.push_back(std::move(one->front()));
        wakeup.messages |= single.wakeup().messages;
        wakeup.runs |= single.wakeup().runs;
        wakeup.outbox |= single.wakeup().outbox;
        if (single.wakeup().due && (!wakeup.due || *single.wakeup().due < *wakeup.due))
          wakeup.due = single.wakeup().due;
        wakeup.ended.insert(wakeup.ended.end(), single.wakeup().ended.begin(), single.wakeup().ended.end());
      } else {
        outcomes.push_back(outcome_of(CommitOutcome::Kind::failed, failed(one.error())));
      }
    }
  }
  tell(wakeup);
  return outcomes;
}

SqliteCommit::SqliteCommit(SqliteStore& store) : store_(store), db_(*store.writer_), now_(store.now()) {}

Result<std::vector<CommitOutcome>> SqliteCommit::run(std::span<const Unit> units, const Store::MoreUnits& more,
                                                     std::vector<const Unit*>& given) {
  std::vector<CommitOutcome> outcomes;
  Transaction transaction(db_);
  while (!units.empty()) {
    for (const Unit& unit : units) given.push_back(&unit);
    for (const Unit& unit : units) {
      Places places;
      auto refused = refuse(unit, places);
      if (db_.error()) break;
      if (refused) {
        outcomes.push_back(std::move(*refused));
        continue;
      }
      apply(unit, places, outcomes.emplace_back());
      if (db_.error()) break;
    }
    units = more && !db_.error() ? more() : std::span<const Unit>();
  }
  sqlite::append_audit_rows(db_, audit_);
  CAIRN_TRY_VOID(transaction.commit(more ? Transaction::Sync::ahead : Transaction::Sync::now));
  for (const std::int64_t message : messages_gone_) store_.held_messages_.erase(message);
  for (const SqliteStore::TimerKey& timer : timers_gone_) store_.held_timers_.erase(timer);
  return outcomes;
}

std::optional<CommitOutcome> SqliteCommit::refuse(const Unit& unit, Places& places) {
  if (auto error = contradiction(unit)) return outcome_of(CommitOutcome::Kind::failed, *error);
  if (unit.key) {
    Query known = db_.query(Sql::find_key, unit.key->scope, unit.key->key);
    if (known.next()) {
      CommitOutcome outcome = outcome_of(CommitOutcome::Kind::duplicate_key);
      outcome.same_request = known.text(0) == unit.key->request_hash;
      outcome.answer = known.json(1);
      return outcome;
    }
  }
  if (unit.inbox && db_.query(Sql::find_inbox, unit.inbox->instance.value, unit.inbox->signal).next()) {
    return outcome_of(CommitOutcome::Kind::duplicate_signal);
  }
  if (unit.message && !db_.query(Sql::find_message, *unit.message).next())
    return outcome_of(CommitOutcome::Kind::stale);
  if (unit.timer &&
      !db_.query(Sql::find_timer, unit.timer->due, unit.timer->instance.value, unit.timer->token.value).next()) {
    return outcome_of(CommitOutcome::Kind::stale);
  }
  if (unit.run) {
    Query row = db_.query(Sql::find_leased_run, unit.run->run.value, unit.run->fence);
    if (!row.next()) return outcome_of(CommitOutcome::Kind::stale);
    ending_ = {row.integer(0), static_cast<int>(row.integer(1)), store_.limits_concurrency(row.text(2))};
  }
  if (unit.task) {
    Query task = db_.query(Sql::find_open_task, unit.task->task.value);
    if (!task.next() || static_cast<std::uint64_t>(task.integer(1)) != unit.task->state_version) {
      return outcome_of(CommitOutcome::Kind::stale);
    }
  }
  for (std::size_t i = 0; i < unit.advances.size(); ++i) {
    const Advance& advance = unit.advances[i];
    if (advance.outcome == Advance::Outcome::stale) continue;
    const auto [at, first] = places.try_emplace(advance.after.instance.value);
    Place& place = at->second;
    place.last = &advance.after;
    place.encoded = i < unit.encoded.size() && !unit.encoded[i].empty() ? &unit.encoded[i] : nullptr;
    place.pieces = unit.pieces_of(i);
    if (!first) {
      place.alike = false;
      continue;
    }
    Query row = db_.query(Sql::find_version, advance.after.instance.value, to_string(advance.after.status),
                          advance.after.program.digest);
    bool ended = false, same_start = true;
    if (row.next()) {
      place.number = row.integer(0);
      place.state_version = static_cast<std::uint64_t>(row.integer(1));
      ended = row.integer(2) != 0;
      place.alike = row.integer(3) != 0;
      // Another start is another instance, which was given the id of one that is gone.
      same_start = row.time(4) == whole_ms(advance.after.started_at);
    }
    if (place.state_version != advance.from_state_version || !same_start) return outcome_of(CommitOutcome::Kind::stale);
    if (ended) {
      return outcome_of(CommitOutcome::Kind::failed,
                        {ErrorCode::conflict, "instance " + advance.after.instance.value + " has ended"});
    }
  }
  return std::nullopt;
}

void SqliteCommit::apply(const Unit& unit, Places& places, CommitOutcome& outcome) {
  audit_.insert(audit_.end(), unit.audit.begin(), unit.audit.end());
  if (unit.run) {
    const InstanceId instance = instance_of_run(unit);
    if (const auto event = event_of(*unit.run, instance, store_.events_)) store_.write_event(instance, *event, wakeup_);
  }
  for (const Advance& advance : unit.advances) {
    if (advance.outcome == Advance::Outcome::stale) continue;
    Place& place = places.at(advance.after.instance.value);
    // Intermediate states were never committed and are never read, so only the last one is written.
    if (place.last != nullptr) store_instance(place, unit.actor);
    open_waits(place.number, advance);
    change_tasks(place.number, advance, unit.actor);
    change_runs(advance, unit, outcome);
    write_log(place.number, advance);
  }
  std::int64_t claims_next = 0;  // the instance
  if (unit.message) {
    if (unit.advances.empty() && store_.maybe_kept_) {
      Query target = db_.query(Sql::signal_target, *unit.message);
      if (target.next()) claims_next = target.integer(0);
    }
    db_.run(Sql::delete_message, *unit.message);
    messages_gone_.push_back(*unit.message);
  }
  if (unit.timer) {
    std::int64_t number = 0;
    {
      Query row = db_.query(Sql::instance_number, unit.timer->instance.value);
      if (row.next()) number = row.integer(0);
    }
    db_.run(Sql::delete_timer, unit.timer->due, number, unit.timer->token.value);
    timers_gone_.emplace_back(unit.timer->due.unix_ms(), number, unit.timer->token.value);
  }
  if (unit.run) end_run(*unit.run);
  if (unit.key) {
    db_.run(Sql::insert_key, unit.key->scope, unit.key->key, unit.key->request_hash, json_text(unit.key->answer), now_);
  }
  if (unit.inbox) db_.run(Sql::insert_inbox, unit.inbox->instance.value, unit.inbox->signal, now_);
  for (const Message& message : unit.messages) store_.send(message, wakeup_);
  for (const CorrelatedSignal& signal : unit.signals) store_.route(signal, wakeup_);
  for (const OutboxEvent& incident : unit.incidents) {
    if (const auto event = entry_of(incident, store_.events_)) {
      store_.write_event(instance_of(incident), *event, wakeup_);
    }
  }
  for (const DeadLetter& letter : unit.dead_letters) store_.insert_dead_letter(letter, wakeup_);
  if (store_.maybe_kept_) {
    for (const Advance& advance : unit.advances) {
      const auto place = places.find(advance.after.instance.value);
      if (place == places.end() || advance.outcome == Advance::Outcome::stale) continue;
      place->second.last = &advance.after;
    }
    for (const auto& [id, place] : places) claim_kept(place);
    if (claims_next != 0) claim_next(claims_next);
  }
}

void SqliteCommit::store_instance(Place& place, const std::string& node) {
  const Snapshot& after = *place.last;
  place.last = nullptr;
  const std::optional<Json> error = error_json(after.error);
  const std::optional<std::string_view> key = sqlite::reference_key(after.reference);
  const Json parts = sqlite::reference_parts(after.reference);
  // The same as `project_instance` without the copies, because every commit passes through here.
  const Timestamp changed_at = whole_ms(after.changed_at);
  std::optional<Timestamp> ended_at;
  if (is_final(after.status)) ended_at = changed_at;
  const bool is_new = place.number == 0;
  if (is_new) {
    std::optional<std::string_view> parent;
    if (after.parent) parent = after.parent->instance.value;
    db_.run(Sql::insert_instance, after.instance.value, after.program.name, after.program.version, after.program.digest,
            to_string(after.status), key, parts, parent, error, whole_ms(after.started_at), changed_at, ended_at);
    place.number = db_.last_number();
  } else if (place.alike && !key && parts.is_null() && !error && !ended_at) {
    db_.run(Sql::touch_instance, place.number, changed_at);
  } else {
    db_.run(Sql::update_instance, place.number, after.program.name, after.program.version, after.program.digest,
            to_string(after.status), key, parts, error, changed_at, ended_at);
  }

  const Wait* first = after.waits.empty() ? nullptr : &after.waits.front();
  const auto task = std::find_if(after.waits.begin(), after.waits.end(),
                                 [](const Wait& wait) { return wait.kind == WaitKind::task; });
  std::optional<std::string_view> kind, token, active, pointer, code;
  std::optional<Timestamp> until;
  std::string where;
  if (first != nullptr) {
    kind = to_string(first->kind);
    token = first->token.value;
    if (first->until) until = whole_ms_up(*first->until);
  }
  if (task != after.waits.end()) active = task->target;
  if (!after.strands.empty()) {
    where = resume_pointer(after.strands.front());
    pointer = where;
  }
  if (after.error) code = after.error->code;
  ApartSnapshot own;
  if (place.encoded == nullptr) {
    own = encode_apart(after, store_.traits_.piece_bytes_min, std::nullopt);
    if (own.uses || store_.maybe_pieces_) place.pieces = &own.changes;
  }
  const std::string& bytes = place.encoded == nullptr ? own.head : *place.encoded;
  if (place.pieces != nullptr) store_.change_pieces(place.number, *place.pieces);
  if (is_new) {
    db_.run(Sql::insert_state, place.number, after.state_version, format_of(bytes), kind, token, until, active, pointer,
            text_or_null(after.last_event), code, error, text_or_null(node), now_, bytes);
  } else if (db_.run(Sql::update_state, place.number, after.state_version, format_of(bytes), kind, token, until, active,
                     pointer, text_or_null(after.last_event), code, error, text_or_null(node), now_, bytes,
                     place.state_version) != 1 &&
             !db_.error()) {
    db_.fail({ErrorCode::corrupt, "instance " + after.instance.value + " moved inside a transaction"});
  }
  if (is_final(after.status)) wakeup_.ended.push_back(after.instance);
}

void SqliteCommit::open_waits(std::int64_t number, const Advance& advance) {
  // A finished instance waits for nothing, whatever the advance lists. No token may stay active.
  if (is_final(advance.after.status)) {
    db_.run(Sql::delete_waits, number);
    return;
  }
  for (const WaitToken& token : advance.waits_closed) db_.run(Sql::delete_wait, number, token.value);
  for (const Wait& wait : advance.waits_opened) {
    const Wait row = project_wait(wait);
    std::optional<std::string_view> key;
    if (row.key.is_string()) key = row.key.as_string();
    db_.run(Sql::insert_wait, number, row.token.value, to_string(row.kind), row.step, row.strand, row.since, row.until,
            row.name, key, row.target);
    if (row.kind == WaitKind::timer && row.until) {
      db_.run(Sql::insert_timer, *row.until, number, row.token.value);
      if (!wakeup_.due || *row.until < *wakeup_.due) wakeup_.due = row.until;
    }
  }
}

void SqliteCommit::change_tasks(std::int64_t number, const Advance& advance, const std::string& actor) {
  for (const TaskOpened& opened : advance.tasks_opened) {
    const TaskRow row = project_task(opened, advance.after.instance, now_);
    db_.run(Sql::insert_task, row.id.value, number, row.token.value, row.step, row.name, row.title,
            to_string(row.status), json_text(names(row.roles)), json_text(names(row.exclude)), json_text(row.payload),
            row.form, row.priority, row.due, row.deadline, text_or_null(row.assignee),
            sqlite::reference_key(row.reference), sqlite::reference_parts(row.reference), now_,
            json_text(names(row.managers)));
    const std::int64_t task = db_.last_number();
    store_.task_event(task, TaskEvent::Kind::created, actor, Json());
    if (!row.assignee.empty()) {
      store_.task_event(task, TaskEvent::Kind::assigned, actor, Json::object({{"assignee", row.assignee}}));
    }
  }
  for (const TaskClosed& closed : advance.tasks_closed) {
    std::optional<std::string_view> by;
    std::optional<Timestamp> at;
    Json completion;
    if (closed.status == TaskStatus::completed) {
      by = closed.by;
      at = now_;
      completion = closed.payload;
    }
    std::int64_t task = 0;
    {
      Query row = db_.query(Sql::close_task, closed.id.value, to_string(closed.status), now_, by, at, completion);
      if (row.next()) {
        task = row.integer(0);
        row.next();
      }
    }
    if (task != 0) store_.task_event(task, event_of(closed.status), closed.by.empty() ? actor : closed.by, Json());
  }
}

void SqliteCommit::write_log(std::int64_t number, const Advance& advance) {
  for (const LogEntry& entry : advance.log) {
    db_.run(Sql::insert_log, number, advance.after.state_version, to_string(entry.kind), entry.step, entry.at,
            entry.actor, entry.attempt, entry.details, text_or_null(entry.visit));
  }
}

}  // namespace cairn
