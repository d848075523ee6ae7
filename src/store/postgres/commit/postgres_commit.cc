#include "store/postgres/commit/postgres_commit.h"

#include <algorithm>
#include <array>
#include <memory_resource>
#include <numeric>

#include "store/lease_holder.h"
#include "store/lease_order.h"
#include "store/postgres/cluster/wakeup_text.h"
#include "store/postgres/commit/end_standalone_runs.h"
#include "store/postgres/wire/row_reading.h"
#include "store/postgres/wire/transaction.h"
#include "store/projection.h"
#include "store/report_dead_letter.h"
#include "store/stored_json.h"

namespace cairn {

using postgres::Rows;
using postgres::Sql;

namespace {

CommitOutcome failed(Error error) {
  CommitOutcome outcome;
  outcome.kind = CommitOutcome::Kind::failed;
  outcome.error = std::move(error);
  return outcome;
}

}  // namespace

Result<std::vector<CommitOutcome>> PostgresStore::commit(std::span<const Unit> units) {
  if (units.empty()) return std::vector<CommitOutcome>();
  bool timed_out = false;
  if (!locked_rows_.knows(units)) {
    auto outcomes = commit_batch(units, LockWait::brief, timed_out);
    if (!timed_out) return outcomes;
  }
  return commit_unlocked(units, timed_out);
}

// Refuses the units that need a row which an SQL program has locked, and commits the others. Units that need a row
// which another commit has locked come last, so that no other unit waits for it.
Result<std::vector<CommitOutcome>> PostgresStore::commit_unlocked(std::span<const Unit> units, bool timed_out) {
  constexpr int rounds_max = 3;
  constexpr int soon_rounds_max = 20;
  std::vector<CommitOutcome> outcomes(units.size());
  std::vector<std::size_t> open(units.size());  // the units that have no outcome yet
  std::iota(open.begin(), open.end(), std::size_t{0});
  bool wrote = false;
  const auto chosen = [&](const std::vector<std::size_t>& places) {
    std::vector<Unit> batch;
    for (const std::size_t place : places) batch.push_back(units[place]);
    return batch;
  };
  // What was written keeps its outcome.
  const auto fail = [&](const Error& error) -> Result<std::vector<CommitOutcome>> {
    if (!wrote) return error;
    for (const std::size_t place : open) outcomes[place] = failed(error);
    return outcomes;
  };
  const auto ask = [&]() -> Result<std::vector<postgres::LockedRows::Answer>> {
    CAIRN_TRY(postgres::Pool::Lease lease, pool_.take(postgres::Use::write));
    auto answers = locked_rows_.ask(*lease, chosen(open), now());
    if (lease->error()) return *lease->error();
    return answers;
  };
  for (int round = 1;; ++round) {
    const auto answers = ask();
    if (!answers) return fail(answers.error());
    std::vector<std::size_t> free, soon;
    for (std::size_t i = 0; i < open.size(); ++i) {
      const auto& [refusal, is_soon] = (*answers)[i];
      if (refusal) {
        outcomes[open[i]] = failed(refusal->error);
        hold_cause(units[open[i]], refusal->retry_after);
      } else {
        (is_soon ? soon : free).push_back(open[i]);
      }
    }
    if (free.empty() && soon.empty()) return outcomes;
    // The lock is not of a row that a unit needs, but for example of a table. There is nothing to do but wait.
    const bool unexplained = timed_out && soon.empty() && free.size() == open.size();
    const bool must_wait = unexplained || round >= (soon.empty() ? rounds_max : soon_rounds_max);
    const std::vector<std::size_t>& next = free.empty() ? soon : free;
    auto written = commit_batch(chosen(next), must_wait ? LockWait::long_enough : LockWait::brief, timed_out);
    open.resize(free.size() + soon.size());
    std::merge(free.begin(), free.end(), soon.begin(), soon.end(), open.begin());
    if (!written) {
      if (!timed_out || must_wait) return fail(written.error());
      continue;
    }
    wrote = true;
    for (std::size_t i = 0; i < next.size(); ++i) outcomes[next[i]] = std::move((*written)[i]);
    if (free.empty() || soon.empty()) return outcomes;
    open = soon;
  }
}

// A message or timer whose unit was refused comes again after `length`, and not before.
void PostgresStore::hold_cause(const Unit& unit, Duration length) {
  const Timestamp until = after(now(), length);
  const std::lock_guard lock(marks_mutex_);
  if (unit.message) held_messages_[*unit.message] = until;
  if (unit.timer) {
    held_timers_[{unit.timer->due.unix_ms(), unit.timer->instance.value, unit.timer->token.value}] = until;
  }
}

// `timed_out` tells whether it failed because it waited too long for a lock.
Result<std::vector<CommitOutcome>> PostgresStore::commit_batch(std::span<const Unit> units, LockWait lock_wait,
                                                               bool& timed_out) {
  Wakeup wakeup;
  std::string state;
  bool assumed = false;
  const auto write_batch = [&](std::span<const Unit> batch, bool may_skip_reading) {
    std::optional<PostgresCommit> attempt;
    auto outcomes = write<std::vector<CommitOutcome>>(
        [&](Connection& db) {
          if (lock_wait == LockWait::brief) db.send(Sql::short_lock_timeout);
          attempt.emplace(*this, db, batch);
          auto answers = attempt->run(may_skip_reading);
          assumed = attempt->assumed();
          may_skip_reading = false;  // a second round means that the first one failed
          return answers;
        },
        &state);
    if (outcomes) {
      attempt->remember();
      postgres::merge_wakeup(wakeup, attempt->wakeup());
      for (const postgres::LeasedTogether& together : attempt->leased()) leases_.leased(together);
      for (std::size_t i = 0; i < batch.size(); ++i) {
        if (batch[i].run && (*outcomes)[i].kind == CommitOutcome::Kind::done) {
          leases_.ended(postgres::run_uuid(batch[i].run->run), batch[i].run->fence);
        }
      }
      const std::lock_guard lock(marks_mutex_);
      for (const std::int64_t message : attempt->messages_gone()) held_messages_.erase(message);
      for (const DueTimer& timer : attempt->timers_gone()) {
        TimerKey key{timer.due.unix_ms(), timer.instance.value, timer.token.value};
        held_timers_.erase(key);
        if (timer_readers_ > 0) gone_timers_.insert(std::move(key));
      }
    }
    return outcomes;
  };
  auto outcomes = write_batch(units, memory_.may_skip_reading());
  for (const Unit& unit : units) {
    for (const Advance& advance : unit.advances) ahead_.drop(advance.after.instance.value);
  }
  if (assumed) {
    if (outcomes) {
      memory_.was_right();
    } else if (outcomes.error().code == ErrorCode::conflict) {
      memory_.was_wrong();
      outcomes = write_batch(units, false);
    }
  }
  // Two nodes started the same instance at the same time. The second attempt finds the other node's row.
  if (!outcomes && outcomes.error().code == ErrorCode::conflict) outcomes = write_batch(units, false);
  if (!outcomes && (outcomes.error().code == ErrorCode::conflict || outcomes.error().code == ErrorCode::limit)) {
    // One unit violates a constraint of the tables or a limit of the database, which only bad data can cause. It must
    // not block the others, so each unit gets its own transaction.
    std::vector<CommitOutcome> single;
    for (std::size_t i = 0; i < units.size(); ++i) {
      auto one = write_batch(units.subspan(i, 1), false);
      if (one) {
        single.push_back(std::move(one->front()));
      } else {
        single.push_back(failed(one.error()));
      }
    }
    outcomes = std::move(single);
  }
  timed_out = !outcomes && state == postgres::lock_timeout_state;
  if (outcomes) tell(wakeup);
  return outcomes;
}

PostgresCommit::PostgresCommit(PostgresStore& store, postgres::Connection& db, std::span<const Unit> units)
    : store_(store), db_(db), units_(units), now_(store.now()) {}

Result<std::vector<CommitOutcome>> PostgresCommit::run(bool may_skip_reading) {
  std::vector<CommitOutcome> outcomes;
  if (!store_.events_.runs && postgres::ends_runs_only(units_)) {
    outcomes = postgres::end_standalone_runs(db_, postgres::ends_of(units_), store_.leases_, now_,
                                             store_.pool_.target().run_events, wakeup_);
    if (db_.error()) return *db_.error();
    return outcomes;
  }
  store_.forget_leases(db_);
  if (may_skip_reading) {
    assumption_.emplace(db_);
    if (!assumption_->make(units_, store_.memory_, store_.leases_, image_)) {
      assumption_.reset();
      image_ = {};
    }
  }
  if (!assumption_) image_.load(db_, units_, now_, store_.memory_);
  if (db_.error()) return *db_.error();
  outcomes.reserve(units_.size());
  for (const Unit& unit : units_) {
    if (auto refused = image_.refuse(unit)) {
      outcomes.push_back(std::move(*refused));
    } else {
      // One set of writes loses the order between units. A unit that continues from an earlier one goes into the next
      // set.
      if (continues_earlier(unit)) flush();
      apply(unit, outcomes.emplace_back());
    }
  }
  write_keys();
  flush();
  for (const CorrelatedSignal& signal : signals_) store_.route(db_, signal, wakeup_);
  if (image_.kept) claim_kept();
  claim_next();
  pieces_.send(db_);
  store_.append_audit_rows(db_, audit_);  // last: the holder of the chain end waits only for its commit
  if (db_.error()) return *db_.error();
  return outcomes;
}

bool PostgresCommit::continues_earlier(const Unit& unit) const {
  return std::any_of(unit.advances.begin(), unit.advances.end(),
                     [this](const Advance& advance) { return last_.contains(advance.after.instance.value); });
}

void PostgresCommit::flush() {
  writes_.send_changes(db_, now_);
  if (assumption_) assumption_->send_checks(now_);
  writes_.send_additions(db_, now_);
  for (auto& together : store_.insert_runs(db_, writes_.runs, writes_.run_events, now_, wakeup_)) {
    leased_.push_back(std::move(together));
  }
  writes_ = {};
}

void PostgresCommit::remember() const {
  for (const auto& [id, instance] : image_.instances) {
    if (instance.ended) {
      store_.memory_.forget(id);
    } else if (instance.number != 0) {
      store_.memory_.learn(id, instance.started_at, instance.number);
    }
  }
}

void PostgresCommit::apply(const Unit& unit, CommitOutcome& outcome) {
  audit_.insert(audit_.end(), unit.audit.begin(), unit.audit.end());
  if (unit.run) {
    const InstanceId instance = instance_of_run(unit);
    if (const auto event = event_of(*unit.run, instance, store_.events_)) {
      writes_.outbox(instance, *event);
      wakeup_.outbox |= !event->published;
    }
    end_run(*unit.run);
  }
  // Intermediate states were never committed and are never read, so only the last one of each instance is written.
  struct Moving {
    const Snapshot* last = nullptr;
    std::uint64_t from_state_version = 0;
    std::string_view encoded;
    const PieceChanges* pieces = nullptr;
    std::int64_t number = 0;
    bool is_new = false;
    bool renamed = false;
  };
  // There is usually one, which needs no allocation.
  std::array<std::byte, 1024> room;
  std::pmr::monotonic_buffer_resource memory(room.data(), room.size());
  std::pmr::map<std::string_view, Moving> moving(&memory);
  for (std::size_t i = 0; i < unit.advances.size(); ++i) {
    const Advance& advance = unit.advances[i];
    if (advance.outcome == Advance::Outcome::stale) continue;
    const auto [at, added] = moving.try_emplace(advance.after.instance.value);
    Moving& instance = at->second;
    if (added) instance.from_state_version = advance.from_state_version;
    instance.last = &advance.after;
    instance.renamed |= advance.renamed;
    instance.encoded = i < unit.encoded.size() ? std::string_view(unit.encoded[i]) : std::string_view();
    instance.pieces = unit.pieces_of(i);
  }
  for (auto& [id, instance] : moving) {
    const Snapshot& snapshot = *instance.last;
    auto& place = image_.instances[snapshot.instance.value];
    instance.is_new = place.number == 0;
    if (instance.is_new) {
      place.number = image_.numbers.back();
      image_.numbers.pop_back();
    }
    instance.number = place.number;
    place.state_version = snapshot.state_version;
    place.started_at = whole_ms(snapshot.started_at);
    place.ended = is_final(snapshot.status);
    if (instance.encoded.empty()) {
      ApartSnapshot own = encode_apart(snapshot, store_.traits_.piece_bytes_min, std::nullopt);
      if (own.uses || !instance.is_new) pieces_.change_and_keep(place.number, std::move(own.changes));
      instance.encoded = own_texts_.emplace_back(std::move(own.head));
    } else if (instance.pieces != nullptr) {
      pieces_.change(place.number, *instance.pieces);
    }
    writes_.instance(place.number, instance.is_new, instance.from_state_version, snapshot, instance.renamed,
                     instance.encoded, unit.actor);
    if (place.ended) wakeup_.ended.push_back(snapshot.instance);
    last_[id] = &snapshot;
  }
  std::pmr::map<std::pair<std::string_view, std::string_view>, const Wait*> opened(&memory);
  for (const Advance& advance : unit.advances) {
    if (advance.outcome == Advance::Outcome::stale) continue;
    const std::string& id = advance.after.instance.value;
    const std::int64_t number = moving.at(id).number;
    const bool ended = is_final(advance.after.status);
    for (const WaitToken& token : advance.waits_closed) {
      if (opened.erase({id, token.value}) == 0 && !ended) writes_.close_wait(number, token.value);
    }
    // A finished instance waits for nothing, whatever the advance lists. No token may stay active.
    if (ended) {
      writes_.close_waits(number);
      std::erase_if(opened, [&](const auto& wait) { return wait.first.first == id; });
    } else {
      for (const Wait& wait : advance.waits_opened) opened[{id, wait.token.value}] = &wait;
    }
    apply_advance(advance, unit, outcome);
  }
  for (const auto& [place, wait] : opened) {
    const Moving& instance = moving.at(place.first);
    writes_.open_wait(instance.number, instance.is_new, *wait);
    if (wait->kind == WaitKind::timer && wait->until) {
      const Timestamp due = whole_ms_up(*wait->until);
      writes_.timer(due, instance.number, wait->token.value);
      if (!wakeup_.due || due < *wakeup_.due) wakeup_.due = due;
    }
  }
  if (unit.message) {
    if (unit.advances.empty()) {
      Rows target = db_.query(Sql::signal_target, *unit.message);
      if (target.next()) claims_next_.push_back(target.integer(0));
    }
    image_.messages.erase(*unit.message);
    writes_.message_gone(*unit.message);
    messages_gone_.push_back(*unit.message);
  }
  if (unit.timer) {
    image_.timers.erase({unit.timer->due, unit.timer->instance.value, unit.timer->token.value});
    writes_.timer_gone(unit.timer->due, image_.instances.at(unit.timer->instance.value).number,
                       unit.timer->token.value);
    timers_gone_.push_back(*unit.timer);
  }
  if (unit.key) {
    auto& key = image_.keys[{unit.key->scope, unit.key->key}];
    key.request_hash = unit.key->request_hash;
    key.answer = unit.key->answer;
    key.used = true;
  }
  if (unit.inbox) {
    image_.inbox.emplace(unit.inbox->instance.value, unit.inbox->signal);
    const auto place = image_.instances.find(unit.inbox->instance.value);
    if (place != image_.instances.end() && place->second.number != 0) {
      writes_.inbox(place->second.number, unit.inbox->signal);
    }
  }
  for (const Message& message : unit.messages) {
    const auto target = image_.instances.find(message.target.value);
    if (target != image_.instances.end() && target->second.number != 0) {
      writes_.message(target->second.number, message);
      wakeup_.messages = true;
      continue;
    }
    DeadLetter letter;
    letter.instance = message.target;
    letter.kind = "message";
    letter.envelope = Json::object({{"kind", to_string(message.kind)}, {"body", message.body}});
    letter.reason = "there is no such instance";
    letter.node = made_by_store;  // found during routing, not by a particular node
    add_dead_letter(letter);
    report_dead_letter(letter);
  }
  signals_.insert(signals_.end(), unit.signals.begin(), unit.signals.end());
  for (const OutboxEvent& incident : unit.incidents) {
    if (const auto event = entry_of(incident, store_.events_)) {
      writes_.outbox(instance_of(incident), *event);
      wakeup_.outbox |= !event->published;
    }
  }
  for (const DeadLetter& letter : unit.dead_letters) add_dead_letter(letter);
}

void PostgresCommit::add_dead_letter(const DeadLetter& letter) {
  writes_.dead_letter(letter);
  if (const auto event = event_of(letter, now_, store_.events_)) {
    writes_.outbox(letter.instance.value_or(InstanceId{}), *event);
    wakeup_.outbox |= !event->published;
  }
}

void PostgresCommit::apply_advance(const Advance& advance, const Unit& unit, CommitOutcome& outcome) {
  const std::int64_t number = image_.instances.at(advance.after.instance.value).number;
  change_tasks(advance, unit.actor);
  change_runs(advance, unit, outcome);
  for (const OutboxEntry& entry : events_of(advance, store_.events_)) {
    writes_.outbox(advance.after.instance, entry);
    wakeup_.outbox |= !entry.published;
  }
  for (const LogEntry& entry : advance.log) writes_.log(number, advance.after.state_version, entry);
}

void PostgresCommit::change_tasks(const Advance& advance, const std::string& actor) {
  for (const TaskOpened& opened : advance.tasks_opened) {
    writes_.task(project_task(opened, advance.after.instance, now_),
                 image_.instances.at(advance.after.instance.value).number);
    image_.tasks[opened.id.value] = {1, true};
    writes_.task_event(opened.id, TaskEvent::Kind::created, actor, Json());
    if (!opened.assignee.empty()) {
      writes_.task_event(opened.id, TaskEvent::Kind::assigned, actor, Json::object({{"assignee", opened.assignee}}));
    }
  }
  for (const TaskClosed& closed : advance.tasks_closed) {
    const auto task = image_.tasks.find(closed.id.value);
    if (task == image_.tasks.end() || !task->second.open) continue;
    task->second.open = false;
    ++task->second.state_version;
    writes_.close_task(closed, now_);
    writes_.task_event(closed.id, event_of(closed.status), closed.by.empty() ? actor : closed.by, Json());
  }
}

const RunTypeRow* PostgresCommit::rule_of(const std::string& type) const {
  const auto found = image_.run_types.find(type);
  return found == image_.run_types.end() ? nullptr : &found->second;
}

void PostgresCommit::free_slot(const std::string& type) {
  const RunTypeRow* rule = rule_of(type);
  wakeup_.runs |= rule != nullptr && rule->concurrency.has_value();
}

void PostgresCommit::change_runs(const Advance& advance, const Unit& unit, CommitOutcome& outcome) {
  for (const RunIntent& intent : advance.runs) {
    RunRow row = project_run(intent, advance.after.instance, now_);
    for (const auto& [run, key] : unit.limit_keys) {
      if (run == row.id) row.limit_key = key;
    }
    const RunTypeRow* rule = rule_of(row.type);
    // If the type is paused or has limits, the run must go through lease_runs, which applies them.
    const bool leased =
        unit.lease && (rule == nullptr || (!rule->paused && !is_limited(*rule))) &&
        std::find(unit.lease->types.begin(), unit.lease->types.end(), row.type) != unit.lease->types.end();
    if (leased) {
      row.status = RunStatus::leased;
      row.leased_by = unit.lease->owner;
      row.lease_until = after(now_, rule != nullptr && rule->lease ? *rule->lease : unit.lease->length);
      row.attempt = row.leases = 1;
      row.fence = fence_step();
      if (rule != nullptr) apply_overrides(*rule, row);
      outcome.leased.push_back(row);
    }
    image_.runs[row.id.value] = {row.status, row.fence, row.attempt, row.type};
    writes_.run(std::move(row));
  }
  for (const RunId& id : advance.runs_cancelled) {
    const auto run = image_.runs.find(id.value);
    if (run == image_.runs.end() || is_final(run->second.status)) continue;
    free_slot(run->second.type);
    run->second.status = RunStatus::cancelled;
    const auto fresh =
        std::find_if(writes_.runs.begin(), writes_.runs.end(), [&](const RunRow& row) { return row.id == id; });
    if (fresh != writes_.runs.end()) {
      fresh->status = RunStatus::cancelled;
    } else {
      writes_.cancel_run(id);
    }
    writes_.run_event(id, "cancelled", run->second.attempt, unit.actor, Json(), now_);
  }
  drop_cancelled(advance, outcome);
}

void PostgresCommit::end_run(const RunEnd& end) {
  auto& run = image_.runs.at(end.run.value);
  free_slot(run.type);
  run.status = end.status;
  writes_.end_run(end);
  writes_.run_event(end.run, to_string(end.status), run.attempt, end.actor,
                    end.status == RunStatus::failed ? end.error : Json(), now_);
}

// A key was claimed for the first unit that named it. If that unit was refused, the key goes to an accepted one or is
// released.
void PostgresCommit::write_keys() {
  for (const auto& [name, key] : image_.keys) {
    if (!key.ours) continue;
    if (!key.used) {
      db_.send(Sql::give_up_key, name.first, name.second);
    } else if (key.request_hash != key.stored_hash || key.answer != key.stored_answer) {
      db_.send(Sql::change_key, name.first, name.second, key.request_hash, write_json(key.answer));
    }
  }
}

// A kept signal that an instance now waits for becomes a message to it. Only one is taken at a time: its delivery
// commits again and takes the next. One instance therefore cannot drain signals that others wait for.
void PostgresCommit::claim_kept() {
  for (const auto& [id, snapshot] : last_) {
    if (is_final(snapshot->status)) continue;
    const std::int64_t number = image_.instances.at(snapshot->instance.value).number;
    bool asked = false;
    for (const Wait& wait : snapshot->waits) {
      if (wait.kind != WaitKind::signal) continue;
      if (!asked && db_.query(Sql::has_signal_message, number).next()) break;
      asked = true;
      if (claim_one(number, wait)) break;
    }
    if (db_.error()) return;
  }
}

// A signal's message was removed without a commit of its instance: it was refused, or it was a repeat. The instance may
// wait for the next kept signal.
void PostgresCommit::claim_next() {
  for (const std::int64_t number : claims_next_) {
    if (db_.query(Sql::has_signal_message, number).next()) continue;
    std::vector<Wait> waits;
    Rows rows = db_.query(Sql::signal_waits_of, number);
    while (rows.next()) {
      Wait& wait = waits.emplace_back();
      wait.kind = WaitKind::signal;
      wait.name = rows.text(0);
      if (!rows.is_null(1)) wait.key = Json(rows.text(1));
    }
    for (const Wait& wait : waits) {
      if (claim_one(number, wait)) break;
    }
    if (db_.error()) return;
  }
}

// Another node may be claiming the same signal. Then this waits for its row, and if the row is gone, tries the next
// one.
bool PostgresCommit::claim_one(std::int64_t number, const Wait& wait) {
  const auto key = postgres::key_text(wait.key);
  std::int64_t looked_at = 0;
  for (;;) {
    Rows kept = db_.query(Sql::find_kept, wait.name, key, now_, looked_at);
    if (!kept.next() || db_.error()) return false;
    // A signal that this instance has already received and left is for others.
    const auto body = parse_stored(kept.text(1));
    if (body && db_.query(Sql::has_had, number, std::string(body->text_or("id", ""))).next()) {
      looked_at = kept.integer(0);
      continue;
    }
    if (db_.query(Sql::claim_kept, kept.integer(0), number).changed() == 1) {
      wakeup_.messages = true;
      return true;
    }
  }
}

}  // namespace cairn
