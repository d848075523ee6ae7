// Runs that were submitted together and stand in the queue as one row (wf_run_pack_q). Large questions lease them from
// there; for small ones, and for types with limits, a pack is opened: its runs get entries of their own.
#pragma once

#include <optional>
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

// The packs that one question takes from, inside its transaction: `take`, `lease`, `read`, `settle`.
class RunPacks {
 public:
  RunPacks(Connection& db, Timestamp at) : db_(db), at_(at) {}

  // The next `max` runs of packs of a type that nobody else is at, as far as the queue's entry `up_to`. Their packs are
  // locked until the transaction ends. How many there are.
  std::size_t take(const std::string& type, std::size_t max, const std::optional<QueueKey>& up_to);
  // Those of them that are still pending. Fails when somebody keeps one locked.
  Rows lease(const std::string& worker, Timestamp until);
  // The rows of `lease`, each as `like` in what packs do not know of.
  void read(Rows rows, const RunRow& like, std::vector<RunRow>& leased);
  // What was leased leaves its pack, and what cannot be leased any more. Others stay, and whoever passed over
  // the locked pack is told of them.
  // True: a pack is used up.
  bool settle(Wakeup& wakeup);

 private:
  struct Pack {
    std::int64_t place = 0;
    std::vector<std::string> runs;  // empty: leased
    std::size_t taken = 0;
    std::optional<RunRow> like;  // what its runs have in common
  };

  RunRow common_of(const RunRow& like, const std::string& run);

  Connection& db_;
  const Timestamp at_;
  std::vector<Pack> packs_;  // since the last settle
};

}  // namespace cairn::postgres
