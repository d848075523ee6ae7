// The leases of a transaction. They are written to wf_lease_q, one row per type, so that a node checks when they
// expire. The functions for that check are here too.
#pragma once

#include <map>

#include "store/lifecycle.h"
#include "store/postgres/runs/known_leases.h"
#include "store/postgres/wire/connection.h"
#include "store/rows.h"
#include "store/store.h"

namespace cairn::postgres {

class LeaseDeadlines {
 public:
  // `at` is the time of the lease.
  void add(const RunRow& run, const std::string& uuid, Timestamp at, Wakeup& wakeup);
  // `due` is the time of the check.
  void add(const std::string& type, LeasedRun run, Timestamp due, Wakeup& wakeup);
  // Queues the statements and clears the list.
  std::vector<LeasedTogether> send(Connection& db);

 private:
  struct Type {
    Timestamp look_at;
    std::vector<LeasedRun> runs;
  };
  std::map<std::string, Type> types_;
};

// Returns runs with expired leases to the queue, and moves due runs to the ready ones. Call it inside a transaction.
void tend_queue(Connection& db, Timestamp now, Wakeup& wakeup);

}  // namespace cairn::postgres
