#include "store/postgres/run_packs.h"

#include <algorithm>
#include <set>

#include "store/postgres/row_reading.h"

namespace cairn::postgres {

std::vector<std::string> RunPacks::take(const std::string& type, std::size_t max,
                                        const std::optional<QueueKey>& up_to) {
  std::optional<std::int64_t> priority, number;
  std::optional<Timestamp> run_at;
  if (up_to) {
    priority = -up_to->priority;
    run_at = up_to->run_at;
    number = up_to->number;
  }
  // One more than full ones would be: the first was often taken from before.
  const std::int64_t looked_at = static_cast<std::int64_t>(max / pack_runs_max) + 2;
  Rows rows =
      db_.query(Sql::take_packs, at_, type, static_cast<std::int64_t>(max), priority, run_at, number, looked_at);
  std::vector<std::string> runs;
  while (rows.next()) {
    Pack& pack = packs_.emplace_back();
    pack.place = rows.integer(0);
    pack.runs = rows.texts(1);
    pack.taken = std::min(pack.runs.size(), max - runs.size());
    runs.insert(runs.end(), pack.runs.begin(), pack.runs.begin() + static_cast<std::ptrdiff_t>(pack.taken));
  }
  return runs;
}

bool RunPacks::settle(std::span<const RunRow> leased, Wakeup& wakeup) {
  if (packs_.empty()) return false;
  const std::vector<std::string> missing = not_leased(leased);
  std::set<std::string> waiting;  // of the missing: somebody was at them, and they may be leased later
  if (!missing.empty()) {
    Column<Uuid> asked;
    for (const std::string& run : missing) asked.add(Uuid{run});
    Rows rows = db_.query(Sql::pending_among, asked);
    while (rows.next()) waiting.insert(rows.text(0));
  }
  Column<RowPlace> empty;
  for (const Pack& pack : packs_) {
    Column<Uuid> kept;
    for (std::size_t i = 0; i < pack.runs.size(); ++i) {
      if (i >= pack.taken || waiting.contains(pack.runs[i])) kept.add(Uuid{pack.runs[i]});
    }
    if (kept.empty()) {
      empty.add(RowPlace{pack.place});
    } else {
      db_.send(Sql::keep_pack, RowPlace{pack.place}, kept);
      wakeup.runs = true;
    }
  }
  if (!empty.empty()) db_.send(Sql::leave_packs, empty);
  packs_.clear();
  return !empty.empty();
}

std::vector<std::string> RunPacks::not_leased(std::span<const RunRow> leased) {
  std::size_t taken = 0;
  for (const Pack& pack : packs_) taken += pack.taken;
  if (taken == leased.size()) return {};
  std::set<std::string> known;
  for (const RunRow& run : leased) known.insert(run_uuid(run.id));
  std::vector<std::string> missing;
  for (const Pack& pack : packs_) {
    for (std::size_t i = 0; i < pack.taken; ++i) {
      if (!known.contains(pack.runs[i])) missing.push_back(pack.runs[i]);
    }
  }
  return missing;
}

}  // namespace cairn::postgres
