#include "store/postgres/runs/lease_deadlines.h"

#include "store/projection.h"

namespace cairn::postgres {

void LeaseDeadlines::add(const RunRow& run, const std::string& uuid, Timestamp at, Wakeup& wakeup) {
  add(run.type, {uuid, run.fence, run.attempt}, attention_at(run, at), wakeup);
}

void LeaseDeadlines::add(const std::string& type_name, LeasedRun run, Timestamp due, Wakeup& wakeup) {
  if (!wakeup.due || due < *wakeup.due) wakeup.due = due;
  const auto [type, is_new] = types_.try_emplace(type_name, Type{due, {}});
  if (due < type->second.look_at) type->second.look_at = due;
  type->second.runs.push_back(std::move(run));
}

std::vector<LeasedTogether> LeaseDeadlines::send(Connection& db) {
  std::vector<LeasedTogether> batches;
  for (auto& [name, type] : types_) {
    Column<Uuid> runs;
    for (const LeasedRun& run : type.runs) runs.add(Uuid{run.uuid});
    batches.push_back({new_lease_row(), std::move(type.runs), name});
    db.send(Sql::watch_leases, batches.back().row, type.look_at, name, runs);
  }
  types_.clear();
  return batches;
}

namespace {

Column<Uuid> column_of(const std::vector<std::string>& uuids) {
  Column<Uuid> column;
  for (const std::string& uuid : uuids) column.add(Uuid{uuid});
  return column;
}

// Requeues or postpones those of `runs` that are still leased.
void tend(Connection& db, const std::vector<std::string>& runs, Timestamp now, Wakeup& wakeup) {
  std::map<std::string, std::string> open;  // run to type
  {
    Rows rows = db.query(Sql::leased_among, column_of(runs));
    while (rows.next()) open.emplace(rows.text(0), rows.text(1));
  }
  if (open.empty() || db.error()) return;
  std::vector<std::string> leased, lapsed;
  for (const auto& [run, type] : open) leased.push_back(run);
  LeaseDeadlines later;
  Rows rows = db.query(Sql::lock_leased, column_of(leased));
  while (rows.next()) {
    const std::string run = rows.text(0);
    open.erase(run);
    const auto until = rows.time_or_nothing(3);
    if (!rows.boolean(2) || !until) continue;
    if (*until <= now) {
      lapsed.push_back(run);
    } else {
      later.add(rows.text(1), {run}, *until, wakeup);
    }
  }
  // Another transaction has these locked. Whatever its outcome, another check is cheap.
  for (const auto& [run, type] : open) later.add(type, {run}, after(now, Duration::of_seconds(1)), wakeup);
  later.send(db);
  if (lapsed.empty()) return;
  db.send(Sql::queue_lapsed, column_of(lapsed));
  // For other workers, and for the caller that ends runs without attempts left.
  wakeup.runs = true;
  wakeup.due = now;
}

void ready_later(Connection& db, Timestamp now, Wakeup& wakeup) {
  constexpr std::int64_t part = 1000;
  constexpr int parts_max = 10;  // the next call continues
  bool more = true;
  for (int i = 0; more && i < parts_max && !db.error(); ++i) {
    Rows moved = db.query(Sql::ready_later, now, part);
    const std::int64_t count = moved.next() ? moved.integer(0) : 0;
    wakeup.runs |= count > 0;
    more = count == part;
  }
  // Another transaction has them locked, or there are many: another check is cheap.
  if (Rows left = db.query(Sql::later_left, now); left.next()) {
    const Timestamp again = more ? now : after(now, Duration::of_seconds(1));
    if (!wakeup.due || again < *wakeup.due) wakeup.due = again;
  }
}

}  // namespace

void tend_queue(Connection& db, Timestamp now, Wakeup& wakeup) {
  ready_later(db, now, wakeup);
  for (bool more = true; more && !db.error();) {
    std::vector<std::string> runs;
    Rows due = db.query(Sql::take_due_leases, now);
    more = due.size() == 64;
    while (due.next()) {
      for (std::string& run : due.texts(0)) runs.push_back(std::move(run));
    }
    if (!runs.empty()) tend(db, runs, now, wakeup);
  }
  db.send(Sql::purge_lapsed);
}

}  // namespace cairn::postgres
