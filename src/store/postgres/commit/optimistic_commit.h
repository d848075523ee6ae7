// A batch that need not ask: every unit says which version, lease, timer or message it was decided on, and this process
// knows the rest. It is written at once, in one round trip, and the statements check what was taken for granted: when
// any of it is wrong nothing is written, and the batch is asked about and written the careful way.
#pragma once

#include <set>
#include <span>
#include <string>

#include "store/postgres/commit/commit_image.h"
#include "store/postgres/commit/instance_numbers.h"
#include "store/postgres/runs/known_leases.h"
#include "store/postgres/commit/signal_locks.h"

namespace cairn::postgres {

class OptimisticCommit {
 public:
  explicit OptimisticCommit(Connection& db) : db_(db), locks_(db) {}

  // Fills `image` with what the units take for granted. False: something must be asked.
  bool make(std::span<const Unit> units, InstanceNumbers& memory, const KnownLeases& leases, CommitImage& image);

  // The checks that no write makes; after the writes that lock rows, as everybody takes locks.
  void send_checks(Timestamp now) const;

 private:
  Connection& db_;
  SignalLocks locks_;
  std::set<std::string> wait_names_;
  bool no_run_types_ = false;
};

}  // namespace cairn::postgres
