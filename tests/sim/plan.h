// What a world consists of: drawn from its seed, first which kinds of fault exist at all, then how
// often they strike. A plan can be written as text and read back, so that a smaller one can be replayed.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace cairn::sim {

enum class Fault {
  crash,          // a node dies at a store verb
  pause,          // a node stands still for up to ten minutes
  error,          // a verb fails, nothing was done
  lost_answer,    // a verb did its work and says that it failed
  slow,           // a verb takes up to half a minute
  outage,         // the store answers nobody for a while
  wakeup_lost,    // nobody but the committing node hears of it, until somebody has doubts
  wakeup_late,    //
  wakeup_twice,   //
  power_loss,     // SQLite: what was not synced is lost, torn or written in another order
  write_error,    // SQLite: a write fails or the disk is full
  sync_error,     // SQLite: a sync fails
  double_click,   // the same request twice at once
  stale_form,     // a completion with an old version, or after somebody else's
  wrong_person,   // without the role, or excluded
  odd_payload,    // a payload that the workflow does not expect
  stray_signal,   // a signal that nobody asked for, early, late or with another key
  signal_again,   // the same signal id once more
  worker_dies,    // after leasing, or after the effect and before the report
  worker_hangs,   // longer than its lease
  worker_fails,   // reports a failure
  report_again,   // reports twice
  cancel,         //
  suspend,        //
  edit,           //
  skip,           //
  run_cancelled,  //
  replay,         // of dead letters
  deploy,         // a new version
  retention,      // at age zero
  count
};
inline constexpr auto fault_count = static_cast<std::size_t>(Fault::count);
const char* to_string(Fault fault);

enum class StoreKind { memory, sqlite };

struct Plan {
  std::uint64_t seed = 0;
  std::uint64_t workflow_seed = 0;
  StoreKind store = StoreKind::memory;
  int nodes = 1;
  int clients = 1;
  int workers = 1;
  int operators = 0;
  int clerks = 0;
  int instances = 3;
  int actions = 20;                      // of each client and operator
  bool record = false;                   // keep what the judge needs
  bool local_leases = false;             // new runs begin leased to the node that committed them
  int snapshots_cached = 4096;           // 0: none
  int writers = 1;                       // commits under way at once, of each node
  std::array<int, fault_count> rates{};  // of 10 000 opportunities

  int& rate(Fault fault) { return rates[static_cast<std::size_t>(fault)]; }
  int rate(Fault fault) const { return rates[static_cast<std::size_t>(fault)]; }
};

Plan plan_of(std::uint64_t seed);
// The same world without what a record cannot tell: rows that are removed, definitions that come later.
Plan recorded(Plan plan);

// nodes=2,clients=1,crash=40,…; what is not named is zero.
std::string write_plan(const Plan& plan);
Result<Plan> read_plan(std::uint64_t seed, const std::string& text);

}  // namespace cairn::sim
