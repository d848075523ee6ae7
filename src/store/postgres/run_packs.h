// Runs that were submitted together and stand in the queue as one row (wf_run_pack_q). Large questions lease them from
// there; for small ones, and for types with limits, a pack is opened: its runs get entries of their own.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/lifecycle.h"
#include "store/postgres/connection.h"
#include "store/postgres/leases_under_way.h"
#include "store/rows.h"

namespace cairn::postgres {

// Fewer have an entry each: a pack costs a statement of its own when they are leased.
inline constexpr std::size_t pack_runs_min = 100;
inline constexpr std::size_t pack_runs_max = 500;

// The packs that one question takes from, inside its transaction.
class RunPacks {
 public:
  RunPacks(Connection& db, Timestamp at) : db_(db), at_(at) {}

  // The next `max` runs of packs of a type that nobody else is at, as far as the queue's entry `up_to`. Their packs are
  // locked until the transaction ends.
  std::vector<std::string> take(const std::string& type, std::size_t max, const std::optional<QueueKey>& up_to);
  // What was leased of them leaves its pack, and what cannot be leased any more. Others stay, and whoever passed over
  // the locked pack is told of them.
  // True: a pack is used up.
  bool settle(std::span<const RunRow> leased, Wakeup& wakeup);

 private:
  struct Pack {
    std::int64_t place = 0;
    std::vector<std::string> runs;
    std::size_t taken = 0;
  };

  std::vector<std::string> not_leased(std::span<const RunRow> leased);

  Connection& db_;
  const Timestamp at_;
  std::vector<Pack> packs_;  // since the last settle
};

}  // namespace cairn::postgres
