// The composition of a world, drawn from its seed: first which kinds of fault exist, then how frequent they are. A plan
// can be written as text and read back, so that a smaller one can be replayed.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace cairn::sim {

enum class Fault {
  crash,          // a node dies at a store call
  pause,          // a node is paused for up to ten minutes
  error,          // a call fails without effect
  lost_answer,    // a call succeeds but reports a failure
  slow,           // a call takes up to half a minute
  outage,         // the store is unavailable for a while
  wakeup_lost,    // only the committing node is notified; the others notice at their next check
  wakeup_late,    //
  wakeup_twice,   //
  power_loss,     // SQLite: unsynced data is lost, torn or written in another order
  write_error,    // SQLite: a write fails or the disk is full
  sync_error,     // SQLite: a sync fails
  double_click,   // the same request twice at the same time
  stale_form,     // a completion with an outdated state version, or after another person's
  wrong_person,   // without the role, or excluded
  odd_payload,    // a payload that the workflow does not expect
  stray_signal,   // an unexpected signal: early, late or with another key
  signal_again,   // the same signal id again
  worker_dies,    // after leasing, or between the effect and the report
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
  int actions = 20;                      // per client and operator
  bool record = false;                   // keep what the oracle needs
  bool local_leases = false;             // new runs start leased to the node that committed them
  int snapshots_cached = 4096;           // 0: no cache
  int writers = 1;                       // concurrent commits per node
  int piece_bytes_min = 0;               // values of this size are stored apart; 0: none is
  std::array<int, fault_count> rates{};  // per 10 000 opportunities

  int& rate(Fault fault) { return rates[static_cast<std::size_t>(fault)]; }
  int rate(Fault fault) const { return rates[static_cast<std::size_t>(fault)]; }
};

Plan plan_of(std::uint64_t seed);
// The same world without what a record cannot describe: removed rows and later definitions.
Plan recorded(Plan plan);

// nodes=2,clients=1,crash=40,…; missing names are zero.
std::string write_plan(const Plan& plan);
Result<Plan> read_plan(std::uint64_t seed, const std::string& text);

}  // namespace cairn::sim
