#include "store/postgres/plain_ends.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "store/postgres/row_reading.h"
#include "store/projection.h"

namespace cairn::postgres {

bool ends_runs_only(std::span<const Unit> units) {
  return std::all_of(units.begin(), units.end(), [](const Unit& unit) {
    return unit.run && unit.advances.empty() && !unit.message && !unit.timer && !unit.key && !unit.inbox &&
           !unit.task && unit.messages.empty() && unit.signals.empty() && unit.dead_letters.empty() &&
           unit.audit.empty();
  });
}

std::vector<CommitOutcome> end_plain_runs(Connection& db, std::span<const Unit> units, Timestamp now, bool run_events,
                                          Wakeup& wakeup) {
  std::vector<std::string> uuids;
  uuids.reserve(units.size());
  for (const Unit& unit : units) uuids.push_back(run_uuid(unit.run->run));
  // Sorted, as everybody locks runs: two batches never wait for each other.
  std::vector<std::size_t> order(units.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return uuids[a] < uuids[b]; });

  std::vector<CommitOutcome> outcomes(units.size());
  for (CommitOutcome& outcome : outcomes) outcome.kind = CommitOutcome::Kind::stale;
  RowList sent{RowType::run_end};
  std::vector<std::size_t> places;  // of what is sent
  for (const std::size_t i : order) {
    const RunEnd& end = *units[i].run;
    if (auto error = contradiction(units[i])) {
      outcomes[i].kind = CommitOutcome::Kind::failed;
      outcomes[i].error = *error;
      continue;
    }
    // Of two reports with one lease the first counts.
    if (!places.empty() && uuids[places.back()] == uuids[i] && units[places.back()].run->fence == end.fence) continue;
    places.push_back(i);
    sent.add(Uuid{uuids[i]}, end.fence, to_string(end.status), Jsonb{end.result}, Jsonb{end.error},
             end.status == RunStatus::failed ? std::optional(error_line(end.error)) : std::nullopt);
  }
  const std::size_t types = db.send(Sql::list_run_types);
  const std::size_t ends = db.send(Sql::end_plain_runs, sent, now);
  db.finish();
  std::set<std::string> limited;
  for (const RunTypeRow& rule : read_run_types(db.take(types))) {
    if (rule.concurrency) limited.insert(rule.type);
  }
  RowList told{RowType::run_event};
  const Json nothing;
  Rows ended = db.take(ends);
  while (ended.next()) {
    const std::size_t i = places[static_cast<std::size_t>(ended.integer(0) - 1)];
    outcomes[i].kind = CommitOutcome::Kind::done;
    // There is room for one more.
    wakeup.runs |= !limited.empty() && limited.contains(ended.text(1));
    if (!run_events) continue;
    const RunEnd& end = *units[i].run;
    told.add(Uuid{uuids[i]}, to_string(end.status), now, static_cast<int>(ended.integer(2)), end.actor,
             Jsonb{end.status == RunStatus::failed ? end.error : nothing});
  }
  if (!told.empty()) db.send(Sql::insert_run_events, told);
  return outcomes;
}

}  // namespace cairn::postgres
