// Heartbeats and releases of many runs in one transaction.
#include <algorithm>
#include <map>
#include <set>

#include "store/postgres/runs/new_keys.h"
#include "store/postgres/wire/row_reading.h"
#include "store/postgres/wire/transaction.h"
#include "store/projection.h"
#include "store/run_change.h"

namespace cairn {

using postgres::Column;
using postgres::Jsonb;
using postgres::RowList;
using postgres::Rows;
using postgres::RowType;
using postgres::Sql;
using postgres::Uuid;

namespace {

// How long all releases of one call together wait for locked rows.
constexpr std::chrono::milliseconds release_wait_max{1000};

// How long the heartbeats of one call wait for locked rows. Of a short lease they wait for a part.
constexpr std::chrono::milliseconds heartbeat_wait_max{500};
constexpr std::int64_t heartbeat_wait_share = 6;

bool is_lease_change(const RunChange& change) {
  return change.kind == RunChange::Kind::heartbeat || change.kind == RunChange::Kind::release;
}

// The statements of one batch, collected run by run.
class LeaseChanges {
 public:
  LeaseChanges(Timestamp at, Wakeup& wakeup) : at_(at), wakeup_(wakeup) {}

  // `row` becomes the row after the change.
  RunChanged::Kind apply(const RunChange& change, const std::string& uuid, RunRow& row) {
    const RunChanged::Kind kind = check_change(change, row);
    if (clears_lease(change, row)) {
      cleared_.add(Uuid{uuid});
      row.lease_until.reset();
      row.leased_by.clear();
    }
    if (kind != RunChanged::Kind::done) return kind;
    if (change.key) keys_.add(*change.key);
    row.updated_at = at_;
    if (change.kind == RunChange::Kind::heartbeat) {
      row.lease_until = after(at_, change.length);
      if (!wakeup_.due || *row.lease_until < *wakeup_.due) wakeup_.due = row.lease_until;
      kept_.add(Uuid{uuid});
      until_.add(*row.lease_until);
      return kind;
    }
    row.status = RunStatus::pending;
    --row.attempt;
    row.lease_until.reset();
    row.leased_by.clear();
    wakeup_.runs = true;
    released_.add(Uuid{uuid});
    const Json nothing;
    events_.add(Uuid{uuid}, "released", at_, row.attempt, change.actor, Jsonb{nothing});
    return kind;
  }

  void send(postgres::Connection& db, bool run_events) const {
    if (!cleared_.empty()) db.send(Sql::clear_leases, cleared_);
    if (!kept_.empty()) db.send(Sql::heartbeat_runs, kept_, until_, at_);
    keys_.send(db, at_);
    if (released_.empty()) return;
    db.send(Sql::unqueue_runs, released_);
    db.send(Sql::release_runs, released_, at_);
    db.send(Sql::queue_runs, released_, at_);
    if (run_events) db.send(Sql::insert_run_events, events_);
  }

 private:
  const Timestamp at_;
  Wakeup& wakeup_;
  Column<Uuid> cleared_, kept_, released_;
  Column<Timestamp> until_;
  RowList events_{RowType::run_event};
  postgres::NewKeys keys_;
};

}  // namespace

Result<std::vector<Result<RunChanged>>> PostgresStore::change_leases(std::span<const RunChange> changes,
                                                                     std::vector<std::size_t>& skipped) {
  using Answers = std::vector<Result<RunChanged>>;
  std::vector<std::string> uuids;
  Column<Uuid> ids;
  for (const RunChange& change : changes) ids.add(Uuid{uuids.emplace_back(postgres::run_uuid(change.run))});
  Wakeup wakeup;
  auto written = write<Answers>([&](Connection& db) -> Result<Answers> {
    wakeup = {};
    skipped.clear();
    const std::size_t locking = db.send(Sql::lock_changed_runs, ids);
    const std::size_t looking = db.send(Sql::runs_among, ids);
    db.finish();
    std::map<std::string, RunRow> locked;
    std::set<std::string> existing;
    Rows rows = db.take(locking);
    while (rows.next()) locked.emplace(rows.text(29), sql::read_run(rows));
    if (rows.fault()) return *rows.fault();
    for (Rows known = db.take(looking); known.next();) existing.insert(known.text(0));
    LeaseChanges batch(now(), wakeup);
    Answers answers;
    for (std::size_t i = 0; i < changes.size(); ++i) {
      const auto found = locked.find(uuids[i]);
      if (found != locked.end()) {
        const RunChanged::Kind kind = batch.apply(changes[i], uuids[i], found->second);
        answers.emplace_back(RunChanged{kind, std::move(found->second)});
      } else if (existing.contains(uuids[i])) {
        skipped.push_back(i);
        answers.emplace_back(
            Error{ErrorCode::unavailable, "another transaction has locked run " + changes[i].run.value});
      } else {
        answers.emplace_back(RunChanged{RunChanged::Kind::not_found, {}});
      }
    }
    batch.send(db, pool_.target().run_events);
    return answers;
  });
  if (!written) return written;
  for (std::size_t i = 0; i < written->size(); ++i) {
    const Result<RunChanged>& answer = (*written)[i];
    if (answer && answer->row.status != RunStatus::leased) leases_.ended(uuids[i], answer->row.fence);
  }
  tell(wakeup);
  return written;
}

std::vector<Result<RunChanged>> PostgresStore::change_runs(std::span<const RunChange> changes) {
  using Answers = std::vector<Result<RunChanged>>;
  if (changes.empty()) return {};
  if (!std::all_of(changes.begin(), changes.end(), is_lease_change)) return Store::change_runs(changes);
  std::set<std::string> distinct;
  for (const RunChange& change : changes) distinct.insert(postgres::run_uuid(change.run));
  if (distinct.size() < changes.size()) return Store::change_runs(changes);
  std::vector<std::size_t> skipped;
  auto written = change_leases(changes, skipped);
  if (!written) {
    // One row that cannot be read or written must not cost the others their leases.
    const bool outage = written.error().code == ErrorCode::unavailable || changes.size() == 1;
    return outage ? Answers(changes.size(), Result<RunChanged>(written.error())) : Store::change_runs(changes);
  }
  Answers answers = std::move(*written);
  std::vector<std::size_t> beats, releases;
  for (const std::size_t i : skipped) {
    (changes[i].kind == RunChange::Kind::heartbeat ? beats : releases).push_back(i);
  }
  repeat_heartbeats(changes, std::move(beats), answers);
  // A heartbeat comes again. A release does not, and the row may be locked by a heartbeat that was sent before it.
  const auto until = std::chrono::steady_clock::now() + release_wait_max;
  for (const std::size_t i : releases) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (left.count() > 0) answers[i] = change_run(changes[i], left);
  }
  return answers;
}

// A short lock of another transaction must not cost a heartbeat. The waits hold no connection, because commits need
// them.
void PostgresStore::repeat_heartbeats(std::span<const RunChange> changes, std::vector<std::size_t> beats,
                                      std::vector<Result<RunChanged>>& answers) {
  std::chrono::milliseconds left = heartbeat_wait_max;
  for (const std::size_t i : beats) {
    left = std::min(left, std::chrono::milliseconds(changes[i].length.ms_up() / heartbeat_wait_share));
  }
  for (std::chrono::milliseconds pause{20}; !beats.empty() && left.count() > 0; pause *= 2) {
    pause = std::min(pause, left);
    left -= pause;
    if (!pool_.pause_before_trying(pause)) return;
    std::vector<RunChange> again;
    for (const std::size_t i : beats) again.push_back(changes[i]);
    std::vector<std::size_t> skipped;
    auto written = change_leases(again, skipped);
    if (!written) return;
    for (std::size_t i = 0; i < beats.size(); ++i) answers[beats[i]] = std::move((*written)[i]);
    std::vector<std::size_t> rest;
    for (const std::size_t i : skipped) rest.push_back(beats[i]);
    beats = std::move(rest);
  }
}

}  // namespace cairn
