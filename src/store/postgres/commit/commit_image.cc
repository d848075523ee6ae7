#include "store/postgres/commit/commit_image.h"

#include <algorithm>
#include <array>
#include <memory_resource>

#include "store/postgres/commit/signal_locks.h"
#include "store/postgres/wire/row_reading.h"
#include "store/projection.h"

namespace cairn::postgres {

namespace {

// Numbers fetched per new instance, and the maximum beyond what is needed.
constexpr std::size_t numbers_ahead = 8;
constexpr std::size_t numbers_ahead_max = 512;

template <class T>
Column<T> column_of(const std::set<T>& values) {
  Column<T> column;
  for (const T& value : values) column.add(value);
  return column;
}

// Everything that the units refer to, sorted.
struct Questions {
  std::set<std::string> advanced;  // locked
  std::set<std::string> named;     // only their numbers are read
  std::set<std::int64_t> messages;
  std::set<CommitImage::TimerKey> timers;
  std::map<std::string, std::string> runs;  // uuid to id
  std::set<std::string> tasks;
  std::map<std::pair<std::string, std::string>, const IdempotencyKey*> keys;
  std::set<std::pair<std::string, std::string>> inbox;
  std::set<std::string> wait_names;
  std::set<std::string> starts;
  bool intends = false;  // creates new runs

  void add_run(const RunId& id) { runs.emplace(run_uuid(id), id.value); }

  void add(const Unit& unit, SignalLocks& locks) {
    for (const Advance& advance : unit.advances) {
      if (advance.outcome == Advance::Outcome::stale) continue;
      advanced.insert(advance.after.instance.value);
      if (advance.from_state_version == 0) starts.insert(advance.after.instance.value);
      for (const TaskClosed& task : advance.tasks_closed) tasks.insert(task.id.value);
      for (const RunId& run : advance.runs_cancelled) add_run(run);
      intends |= !advance.runs.empty();
      for (const Wait& wait : advance.waits_opened) {
        if (wait.kind == WaitKind::signal) locks.add_wait(wait.name, key_text(wait.key));
      }
      for (const Wait& wait : advance.after.waits) {
        if (wait.kind == WaitKind::signal) wait_names.insert(wait.name);
      }
    }
    if (unit.message) messages.insert(*unit.message);
    if (unit.timer) {
      timers.emplace(unit.timer->due, unit.timer->instance.value, unit.timer->token.value);
      named.insert(unit.timer->instance.value);
    }
    if (unit.run) add_run(unit.run->run);
    if (unit.task) tasks.insert(unit.task->task.value);
    if (unit.key) keys.try_emplace({unit.key->scope, unit.key->key}, &*unit.key);
    if (unit.inbox) {
      advanced.insert(unit.inbox->instance.value);
      inbox.emplace(unit.inbox->instance.value, unit.inbox->signal);
    }
    for (const Message& message : unit.messages) named.insert(message.target.value);
    for (const CorrelatedSignal& signal : unit.signals) locks.add_signal(signal.name, key_text(signal.key));
  }
};

}  // namespace

void CommitImage::load(Connection& db, std::span<const Unit> units, Timestamp now, InstanceNumbers& memory) {
  Questions ask;
  SignalLocks locks(db);
  for (const Unit& unit : units) ask.add(unit, locks);

  std::size_t instance_rows = 0, number_rows = 0, message_rows = 0, timer_rows = 0, run_rows = 0, task_rows = 0,
              inbox_rows = 0, type_rows = 0, claimed_keys = 0, key_rows = 0, kept_rows = 0, new_numbers = 0;
  if (!ask.advanced.empty()) instance_rows = db.send(Sql::lock_instances, column_of(ask.advanced));
  if (!ask.named.empty()) number_rows = db.send(Sql::find_numbers, column_of(ask.named));
  if (!ask.messages.empty()) message_rows = db.send(Sql::lock_messages, column_of(ask.messages));
  std::vector<TimerKey> asked_timers(ask.timers.begin(), ask.timers.end());
  if (!asked_timers.empty()) {
    Column<Timestamp> due;
    Column<std::string> ids, tokens;
    for (const auto& [at, id, token] : asked_timers) {
      due.add(at);
      ids.add(id);
      tokens.add(token);
    }
    timer_rows = db.send(Sql::lock_timers, due, ids, tokens);
  }
  if (!ask.runs.empty()) {
    Column<Uuid> ids;
    for (const auto& [uuid, id] : ask.runs) ids.add(Uuid{uuid});
    run_rows = db.send(Sql::lock_runs, ids);
  }
  if (ask.intends || !ask.runs.empty()) type_rows = db.send(Sql::list_run_types);
  if (!ask.tasks.empty()) task_rows = db.send(Sql::lock_tasks, column_of(ask.tasks));
  std::vector<std::pair<std::string, std::string>> asked_inbox(ask.inbox.begin(), ask.inbox.end());
  if (!asked_inbox.empty()) {
    Column<std::string> ids, signals;
    for (const auto& [id, signal] : asked_inbox) {
      ids.add(id);
      signals.add(signal);
    }
    inbox_rows = db.send(Sql::find_inbox, ids, signals);
  }
  if (!ask.keys.empty()) {
    Column<std::string> scopes, names, hashes, answers;
    for (const auto& [name, key] : ask.keys) {
      scopes.add(key->scope);
      names.add(key->key);
      hashes.add(key->request_hash);
      answers.add(write_json(key->answer));
    }
    claimed_keys = db.send(Sql::claim_keys, scopes, names, hashes, answers, now);
    key_rows = db.send(Sql::find_keys, scopes, names);
  }
  if (!locks.empty()) locks.send();
  // After the locks, because a statement sees what was committed before it started.
  if (!ask.wait_names.empty()) kept_rows = db.send(Sql::any_kept, column_of(ask.wait_names), now);
  // Includes some for later commits.
  const std::size_t numbers_taken = std::min(ask.starts.size() * numbers_ahead, ask.starts.size() + numbers_ahead_max);
  if (!ask.starts.empty()) new_numbers = db.send(Sql::take_numbers, static_cast<std::int64_t>(numbers_taken));
  db.finish();
  if (db.error()) return;

  if (!ask.advanced.empty()) {
    Rows rows = db.take(instance_rows);
    while (rows.next()) {
      instances[rows.text(0)] = {rows.integer(1), static_cast<std::uint64_t>(rows.integer(2)), rows.time(3),
                                 rows.boolean(4)};
    }
  }
  if (!ask.named.empty()) {
    Rows rows = db.take(number_rows);
    while (rows.next()) {
      // Not locked: only its number is used, and it is never advanced.
      const auto [at, added] = instances.try_emplace(rows.text(0));
      if (!added) continue;
      at->second.number = rows.integer(1);
      at->second.started_at = rows.time(2);
    }
  }
  if (!ask.messages.empty()) {
    Rows rows = db.take(message_rows);
    while (rows.next()) messages.insert(rows.integer(0));
  }
  if (!asked_timers.empty()) {
    Rows rows = db.take(timer_rows);
    while (rows.next()) timers.insert(asked_timers[static_cast<std::size_t>(rows.integer(0) - 1)]);
  }
  if (!ask.runs.empty()) {
    Rows rows = db.take(run_rows);
    while (rows.next()) {
      runs[ask.runs[rows.text(0)]] = {run_status_from(rows.text(1)).value_or(RunStatus::failed),
                                      static_cast<std::uint64_t>(rows.integer(2)), static_cast<int>(rows.integer(3)),
                                      rows.text(4)};
    }
  }
  if (ask.intends || !ask.runs.empty()) {
    for (RunTypeRow& type : sql::read_run_types(db.take(type_rows))) run_types.emplace(type.type, std::move(type));
    memory.set_run_types(!run_types.empty());
  }
  if (!ask.tasks.empty()) {
    Rows rows = db.take(task_rows);
    while (rows.next()) tasks[rows.text(0)] = {static_cast<std::uint64_t>(rows.integer(1)), rows.boolean(2)};
  }
  if (!asked_inbox.empty()) {
    Rows rows = db.take(inbox_rows);
    while (rows.next()) inbox.insert(asked_inbox[static_cast<std::size_t>(rows.integer(0) - 1)]);
  }
  if (!ask.keys.empty()) {
    Rows rows = db.take(key_rows);
    while (rows.next()) {
      Key key;
      key.request_hash = key.stored_hash = rows.text(2);
      key.answer = key.stored_answer = rows.json(3);
      keys[{rows.text(0), rows.text(1)}] = std::move(key);
    }
    if (rows.fault()) db.fail(*rows.fault());
    Rows ours = db.take(claimed_keys);
    while (ours.next()) keys[{ours.text(0), ours.text(1)}].ours = true;
  }
  if (!ask.wait_names.empty()) kept = db.take(kept_rows).next();
  if (!ask.starts.empty()) {
    std::vector<std::int64_t> ahead;
    Rows rows = db.take(new_numbers);
    while (rows.next()) (numbers.size() < ask.starts.size() ? numbers : ahead).push_back(rows.integer(0));
    std::reverse(numbers.begin(), numbers.end());
    memory.keep_numbers(std::move(ahead));
  }
}

std::optional<CommitOutcome> CommitImage::refuse(const Unit& unit) const {
  if (auto error = contradiction(unit)) return outcome_of(CommitOutcome::Kind::failed, *error);
  if (unit.key) {
    const auto known = keys.find({unit.key->scope, unit.key->key});
    if (known != keys.end() && (!known->second.ours || known->second.used)) {
      CommitOutcome outcome = outcome_of(CommitOutcome::Kind::duplicate_key);
      outcome.same_request = known->second.request_hash == unit.key->request_hash;
      outcome.answer = known->second.answer;
      return outcome;
    }
  }
  if (unit.inbox && inbox.contains({unit.inbox->instance.value, unit.inbox->signal})) {
    return outcome_of(CommitOutcome::Kind::duplicate_signal);
  }
  if (unit.message && !messages.contains(*unit.message)) return outcome_of(CommitOutcome::Kind::stale);
  if (unit.timer && !timers.contains({unit.timer->due, unit.timer->instance.value, unit.timer->token.value})) {
    return outcome_of(CommitOutcome::Kind::stale);
  }
  if (unit.run) {
    const auto run = runs.find(unit.run->run.value);
    if (run == runs.end() || run->second.status != RunStatus::leased || run->second.fence != unit.run->fence) {
      return outcome_of(CommitOutcome::Kind::stale);
    }
  }
  if (unit.task) {
    const auto task = tasks.find(unit.task->task.value);
    if (task == tasks.end() || !task->second.open || task->second.state_version != unit.task->state_version) {
      return outcome_of(CommitOutcome::Kind::stale);
    }
  }
  // The first advance of each instance is compared with the stored state version.
  std::array<std::byte, 512> room;
  std::pmr::monotonic_buffer_resource memory(room.data(), room.size());
  std::pmr::set<std::string_view> seen(&memory);
  for (const Advance& advance : unit.advances) {
    const std::string& id = advance.after.instance.value;
    if (advance.outcome == Advance::Outcome::stale || !seen.insert(id).second) continue;
    const auto instance = instances.find(id);
    const std::uint64_t state_version = instance == instances.end() ? 0 : instance->second.state_version;
    if (state_version != advance.from_state_version) return outcome_of(CommitOutcome::Kind::stale);
    // Another start is another instance, which was given the id of one that is gone.
    if (state_version != 0 && instance->second.started_at != whole_ms(advance.after.started_at)) {
      return outcome_of(CommitOutcome::Kind::stale);
    }
    if (state_version != 0 && instance->second.ended) {
      return outcome_of(CommitOutcome::Kind::failed, {ErrorCode::conflict, "instance " + id + " has ended"});
    }
  }
  return std::nullopt;
}

}  // namespace cairn::postgres
