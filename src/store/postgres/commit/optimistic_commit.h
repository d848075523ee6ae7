// A batch that need not read first. Every unit names the state version, lease, timer or message that it was decided on,
// and this process knows the rest. The batch is written in one round trip, and the statements check every assumption.
// If one is wrong, nothing is written, and the batch is read and written the careful way.
#pragma once

#include <set>
#include <span>
#include <string>

#include "store/postgres/commit/commit_image.h"
#include "store/postgres/commit/instance_numbers.h"
#include "store/postgres/commit/signal_locks.h"
#include "store/postgres/runs/known_leases.h"

namespace cairn::postgres {

class OptimisticCommit {
 public:
  explicit OptimisticCommit(Connection& db) : db_(db), locks_(db) {}

  // Fills `image` with the assumptions of the units. False if something must be read.
  bool make(std::span<const Unit> units, InstanceNumbers& memory, const KnownLeases& leases, CommitImage& image);

  // The checks that no write makes. They follow the writes that lock rows, in the common lock order.
  void send_checks(Timestamp now) const;

 private:
  Connection& db_;
  SignalLocks locks_;
  std::set<std::string> wait_names_;
  bool no_run_types_ = false;
};

}  // namespace cairn::postgres
