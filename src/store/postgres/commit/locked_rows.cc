#include "store/postgres/commit/locked_rows.h"

#include <algorithm>
#include <set>

#include "store/postgres/wire/row_reading.h"
#include "store/projection.h"

namespace cairn::postgres {

namespace {

constexpr Duration retry_after_min = Duration::of_seconds(1);
constexpr Duration retry_after_max = Duration::of_seconds(30);
// A transaction of cairn that keeps a row for so long is treated like that of a program.
constexpr Duration soon_max = Duration::of_seconds(2);
// A row that no unit has needed for so long is forgotten.
constexpr Duration forgotten_after = Duration::of_seconds(120);

// A row that a commit of the unit locks and that others can lock too.
struct Row {
  enum class Kind { run, task, instance };
  Kind kind;
  std::string key;  // of a run the uuid
  std::string name;
};

std::vector<Row> rows_of(const Unit& unit) {
  std::vector<Row> rows;
  const auto add_run = [&](const RunId& id) {
    std::string uuid = run_uuid(id);
    rows.push_back({Row::Kind::run, uuid, "run " + id.value});
  };
  const auto add_task = [&](const TaskId& id) { rows.push_back({Row::Kind::task, id.value, "task " + id.value}); };
  const auto add_instance = [&](const InstanceId& id) {
    rows.push_back({Row::Kind::instance, id.value, "instance " + id.value});
  };
  for (const Advance& advance : unit.advances) {
    if (advance.outcome == Advance::Outcome::stale) continue;
    for (const RunId& id : advance.runs_cancelled) add_run(id);
    for (const TaskClosed& task : advance.tasks_closed) add_task(task.id);
    if (advance.from_state_version > 0) add_instance(advance.after.instance);
  }
  if (unit.run) add_run(unit.run->run);
  if (unit.task) add_task(unit.task->task);
  if (unit.inbox) add_instance(unit.inbox->instance);
  return rows;
}

}  // namespace

bool LockedRows::knows(std::span<const Unit> units) const {
  if (count_ == 0) return false;
  const std::lock_guard lock(mutex_);
  return std::any_of(units.begin(), units.end(), [this](const Unit& unit) {
    const std::vector<Row> rows = rows_of(unit);
    return std::any_of(rows.begin(), rows.end(), [this](const Row& row) {
      const auto known = locks_.find(row.name);
      return known != locks_.end() && !known->second.soon;
    });
  });
}

std::vector<LockedRows::Answer> LockedRows::ask(Connection& db, std::span<const Unit> units, Timestamp now) {
  std::vector<std::vector<Row>> needed;
  std::map<std::pair<Row::Kind, std::string>, std::string> names;
  for (const Unit& unit : units) {
    for (const Row& row : needed.emplace_back(rows_of(unit))) names.emplace(std::pair(row.kind, row.key), row.name);
  }
  Column<Uuid> runs;
  Column<std::string> tasks, instances;
  for (const auto& [row, name] : names) {
    switch (row.first) {
      case Row::Kind::run: runs.add(Uuid{row.second}); break;
      case Row::Kind::task: tasks.add(row.second); break;
      case Row::Kind::instance: instances.add(row.second); break;
    }
  }
  db.send(Sql::begin);
  // Before the rows: a transaction that is not in the list but has a row began later, or has ended when the answer
  // comes. Both count as short until the next look.
  const std::size_t others = db.send(Sql::foreign_transactions);
  const std::size_t locked_runs = db.send(Sql::locked_runs, runs);
  const std::size_t locked_tasks = db.send(Sql::locked_tasks, tasks);
  const std::size_t locked_instances = db.send(Sql::locked_instances, instances);
  db.send(Sql::rollback);
  db.finish();
  std::set<std::string> foreign;
  for (Rows rows = db.take(others); rows.next();) foreign.insert(rows.text(0));
  std::map<std::string, std::string> holders;  // by row
  const auto collect = [&](Row::Kind kind, std::size_t number) {
    Rows rows = db.take(number);
    while (rows.next()) {
      const auto name = names.find({kind, rows.text(0)});
      if (name == names.end()) continue;
      std::string& holder = holders[name->second];
      if (!foreign.contains(holder)) holder = rows.text(1);
    }
  };
  collect(Row::Kind::run, locked_runs);
  collect(Row::Kind::task, locked_tasks);
  collect(Row::Kind::instance, locked_instances);
  std::vector<Answer> answers(units.size());
  if (db.error()) return answers;

  const std::lock_guard lock(mutex_);
  for (const auto& [row, name] : names) {
    const auto holder = holders.find(name);
    if (holder == holders.end()) {
      locks_.erase(name);
      continue;
    }
    Lock& known = locks_.try_emplace(name, Lock{"", true, now, now}).first->second;
    if (known.holder != holder->second && known.soon) known.since = now;
    known.holder = holder->second;
    known.soon = !foreign.contains(known.holder) && between(known.since, now) < soon_max;
    known.asked_at = now;
  }
  std::erase_if(locks_, [&](const auto& one) { return after(one.second.asked_at, forgotten_after) < now; });
  count_ = static_cast<std::size_t>(
      std::count_if(locks_.begin(), locks_.end(), [](const auto& one) { return !one.second.soon; }));
  for (std::size_t i = 0; i < units.size(); ++i) {
    for (const Row& row : needed[i]) {
      const auto found = locks_.find(row.name);
      if (found == locks_.end()) continue;
      answers[i].soon |= found->second.soon;
      if (found->second.soon) continue;
      auto& refusal = answers[i].refusal;
      const Duration held = between(found->second.since, now);
      const Duration retry_after = std::clamp(held, retry_after_min, retry_after_max);
      if (refusal && retry_after <= refusal->retry_after) continue;
      refusal = Refusal{{ErrorCode::unavailable,
                         row.name + " is locked by another transaction of the database, perhaps that of an SQL "
                                    "program; try again when that transaction has ended"},
                        retry_after};
    }
  }
  return answers;
}

}  // namespace cairn::postgres
