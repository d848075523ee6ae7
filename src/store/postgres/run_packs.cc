#include "store/postgres/run_packs.h"

#include <algorithm>
#include <set>

#include "store/lease_holder.h"
#include "store/postgres/row_reading.h"

namespace cairn::postgres {

std::size_t RunPacks::take(const std::string& type, std::size_t max, const std::optional<QueueKey>& up_to) {
  // One more than full ones would be: the first was often taken from before.
  const std::int64_t looked_at = static_cast<std::int64_t>(max / pack_runs_max) + 2;
  Rows rows = db_.query(Sql::take_packs, at_, type, static_cast<std::int64_t>(max), up_to, looked_at);
  std::size_t taken = 0;
  while (rows.next()) {
    Pack& pack = packs_.emplace_back();
    pack.place = rows.integer(0);
    pack.runs = rows.texts(1);
    pack.taken = std::min(pack.runs.size(), max - taken);
    taken += pack.taken;
  }
  return taken;
}

Rows RunPacks::lease(const std::string& worker, Timestamp until) {
  Column<Uuid> asked;
  for (const Pack& pack : packs_) {
    for (std::size_t i = 0; i < pack.taken; ++i) asked.add(Uuid{pack.runs[i]});
  }
  db_.send(Sql::wait_briefly);
  return db_.query(Sql::lease_packed, at_, asked, worker, until, fence_step());
}

void RunPacks::read(Rows rows, const RunRow& like, std::vector<RunRow>& leased) {
  leased.reserve(leased.size() + rows.size());
  while (rows.next()) {
    auto at = static_cast<std::size_t>(rows.integer(0)) - 1;
    auto pack = packs_.begin();
    for (; at >= pack->taken; ++pack) at -= pack->taken;
    if (!pack->like) pack->like = common_of(like, pack->runs[at]);
    RunRow& row = leased.emplace_back(*pack->like);
    row.id = {std::exchange(pack->runs[at], {})};
    row.payload = rows.json(1);
    row.attempt = static_cast<int>(rows.integer(2));
    row.leases = static_cast<int>(rows.integer(3));
    row.fence = static_cast<std::uint64_t>(rows.integer(4));
  }
  if (rows.fault()) db_.fail(*rows.fault());
}

RunRow RunPacks::common_of(const RunRow& like, const std::string& run) {
  RunRow row = like;
  Rows rows = db_.query(Sql::one_of_pack, Uuid{run});
  if (!rows.next()) return row;  // the connection is lost, which ends the question
  row.priority = rows.integer(0);
  row.attempts_max = static_cast<int>(rows.integer(1));
  row.run_at = rows.time(2);
  read_retries(rows, 3, row);
  row.created_at = rows.time(8);
  row.limit_key = rows.text(9);
  return row;
}

bool RunPacks::settle(Wakeup& wakeup) {
  if (packs_.empty()) return false;
  Column<Uuid> missing;
  for (const Pack& pack : packs_) {
    for (std::size_t i = 0; i < pack.taken; ++i) {
      if (!pack.runs[i].empty()) missing.add(Uuid{pack.runs[i]});
    }
  }
  std::set<std::string> waiting;  // of the missing: somebody was at them, and they may be leased later
  if (!missing.empty()) {
    Rows rows = db_.query(Sql::pending_among, missing);
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

}  // namespace cairn::postgres
