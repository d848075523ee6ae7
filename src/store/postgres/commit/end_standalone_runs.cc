#include "store/postgres/commit/end_standalone_runs.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "store/postgres/wire/row_reading.h"
#include "store/projection.h"

namespace cairn::postgres {

bool ends_runs_only(std::span<const Unit> units) {
  return std::all_of(units.begin(), units.end(), [](const Unit& unit) {
    return unit.run && unit.advances.empty() && !unit.message && !unit.timer && !unit.key && !unit.inbox &&
           !unit.task && unit.messages.empty() && unit.signals.empty() && unit.dead_letters.empty() &&
           unit.incidents.empty() && unit.audit.empty();
  });
}

std::vector<const RunEnd*> ends_of(std::span<const Unit> units) {
  std::vector<const RunEnd*> ends;
  ends.reserve(units.size());
  for (const Unit& unit : units) ends.push_back(&*unit.run);
  return ends;
}

namespace {

// One batch, in the common lock order of runs, so two batches never deadlock.
class StandaloneRunEnds {
 public:
  StandaloneRunEnds(Connection& db, std::span<const RunEnd* const> ends, Timestamp now, bool run_events)
      : db_(db), ends_(ends), now_(now), run_events_(run_events), outcomes_(ends.size()) {
    std::vector<std::size_t> order(ends.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    uuids_.reserve(ends.size());
    for (const RunEnd* end : ends) uuids_.push_back(run_uuid(end->run));
    const auto before = [this](std::size_t a, std::size_t b) { return uuids_[a] < uuids_[b]; };
    if (!std::is_sorted(order.begin(), order.end(), before)) std::stable_sort(order.begin(), order.end(), before);
    sent_.reserve(ends.size());
    for (const std::size_t i : order) {
      outcomes_[i].kind = CommitOutcome::Kind::stale;
      // If two reports have the same lease, the first one counts.
      const bool repeated =
          !sent_.empty() && uuids_[sent_.back()] == uuids_[i] && ends[sent_.back()]->fence == ends[i]->fence;
      if (!repeated) sent_.push_back(i);
    }
  }

  // For runs that all succeeded and whose leases are all known here, so only a count comes back from the server. False
  // if nothing was written.
  bool end_known(const KnownLeases& leases, Wakeup& wakeup) {
    Column<Uuid> ids;
    Column<std::int64_t> fences;
    Column<Jsonb> results;
    Column<int> attempts;
    std::set<std::string> types;
    std::shared_ptr<const std::string> last_type;
    for (const std::size_t i : sent_) {
      const RunEnd& end = *ends_[i];
      const auto lease = leases.find(uuids_[i], end.fence);
      if (!lease || end.status != RunStatus::succeeded || end.actor != ends_[sent_[0]]->actor) return false;
      ids.add(Uuid{uuids_[i]});
      fences.add(static_cast<std::int64_t>(end.fence));
      results.add(Jsonb{end.result});
      if (run_events_) attempts.add(lease->attempt);
      if (std::exchange(last_type, lease->type) != lease->type) types.insert(*lease->type);
    }
    const std::size_t rules = db_.send(Sql::list_run_types);
    const std::size_t ended = db_.send(Sql::end_succeeded_runs, ids, fences, results, now_);
    if (run_events_) {
      db_.send(Sql::insert_like_events, ids, to_string(RunStatus::succeeded), now_, ends_[sent_[0]]->actor, attempts);
    }
    db_.finish();
    if (db_.error()) return true;
    if (db_.take(ended).changed() != static_cast<std::int64_t>(sent_.size())) {
      // One run has lost its lease.
      db_.query(Sql::rollback);
      db_.send(Sql::begin);
      db_.send(Sql::short_lock_timeout);
      return false;
    }
    for (const std::size_t i : sent_) outcomes_[i].kind = CommitOutcome::Kind::done;
    for (const RunTypeRow& rule : sql::read_run_types(db_.take(rules))) {
      wakeup.runs |= rule.concurrency && types.contains(rule.type);  // there is room for more
    }
    return true;
  }

  void end_by_id(Wakeup& wakeup) {
    RowList rows{RowType::run_end};
    for (const std::size_t i : sent_) {
      const RunEnd& end = *ends_[i];
      rows.add(Uuid{uuids_[i]}, end.fence, to_string(end.status), Jsonb{end.result}, Jsonb{end.error},
               end.status == RunStatus::failed ? std::optional(error_line(end.error)) : std::nullopt);
    }
    const std::size_t rules = db_.send(Sql::list_run_types);
    const std::size_t asked = db_.send(Sql::end_standalone_runs, rows, now_);
    db_.finish();
    std::set<std::string> limited;
    for (const RunTypeRow& rule : sql::read_run_types(db_.take(rules))) {
      if (rule.concurrency) limited.insert(rule.type);
    }
    RowList told{RowType::run_event};
    const Json nothing;
    Rows ended = db_.take(asked);
    while (ended.next()) {
      const std::size_t i = sent_[static_cast<std::size_t>(ended.integer(0) - 1)];
      outcomes_[i].kind = CommitOutcome::Kind::done;
      wakeup.runs |= !limited.empty() && limited.contains(ended.text(1));  // there is room for one more
      if (!run_events_) continue;
      const RunEnd& end = *ends_[i];
      told.add(Uuid{uuids_[i]}, to_string(end.status), now_, static_cast<int>(ended.integer(2)), end.actor,
               Jsonb{end.status == RunStatus::failed ? end.error : nothing});
    }
    if (!told.empty()) db_.send(Sql::insert_run_events, told);
  }

  std::vector<CommitOutcome> take_outcomes() { return std::move(outcomes_); }

 private:
  Connection& db_;
  std::span<const RunEnd* const> ends_;
  const Timestamp now_;
  const bool run_events_;
  std::vector<CommitOutcome> outcomes_;
  std::vector<std::string> uuids_;
  std::vector<std::size_t> sent_;  // positions among the ends, in order
};

}  // namespace

std::vector<CommitOutcome> end_standalone_runs(Connection& db, std::span<const RunEnd* const> ends,
                                               const KnownLeases& leases, Timestamp now, bool run_events,
                                               Wakeup& wakeup) {
  StandaloneRunEnds batch(db, ends, now, run_events);
  if (!batch.end_known(leases, wakeup)) batch.end_by_id(wakeup);
  return batch.take_outcomes();
}

}  // namespace cairn::postgres
