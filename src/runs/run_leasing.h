// Who gets new runs. A new run begins leased, without a commit of its own for the lease: to this node when it handles
// the type, else to a remote worker that waits for the type. Safe from several threads.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runs/lease_waiters.h"
#include "runs/leased_runs.h"
#include "runs/run_types.h"
#include "store/run_store.h"
#include "store/run_type_store.h"

namespace cairn {

class RunLeasing {
 public:
  // The stores outlive it. `node` holds the leases of this node.
  RunLeasing(RunStore& runs, RunTypeStore& types, std::string node, const Limits& limits = {})
      : node_(std::move(node)), types_(types), waiters_(runs, limits.lease_waiters_max) {}

  // How runs of a type are treated.
  RunTypes& types() { return types_; }
  // Remote workers wait for runs here.
  LeaseWaiters& waiters() { return waiters_; }
  // Spares the reports of these runs a look at the store.
  LeasedRuns& leased() { return leased_; }

  // New runs of these types begin leased to this node and are handed to `take` after their commit.
  void lease_here(std::vector<std::string> types, Duration length, std::function<void(RunRow)> take);
  // New runs begin pending again. `take` may still get some, of commits that are in progress.
  void stop_leasing_here();

  // Writes into `unit` who gets its new runs and by which keys the limits count them. The promise to a remote worker
  // lives until the commit is answered; nullptr: none. An error when the store cannot tell how they are counted.
  Result<std::shared_ptr<LeaseWaiters::Promise>> lease_new_runs(Unit& unit);
  // Hands over runs that began leased, after their commit.
  void hand_over(std::vector<RunRow> leased, LeaseWaiters::Promise* promise);

 private:
  const std::string node_;
  RunTypes types_;
  LeaseWaiters waiters_;
  LeasedRuns leased_;
  std::mutex mutex_;
  std::optional<RunLease> lease_;
  std::function<void(RunRow)> take_;
};

}  // namespace cairn
