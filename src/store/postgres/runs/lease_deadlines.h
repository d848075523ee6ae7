// What a transaction leased: written to wf_lease_q, one row a type, so that somebody looks when the leases have ended;
// and what is done then.
#pragma once

#include <map>

#include "store/lifecycle.h"
#include "store/postgres/wire/connection.h"
#include "store/postgres/runs/known_leases.h"
#include "store/rows.h"
#include "store/store.h"

namespace cairn::postgres {

class LeaseDeadlines {
 public:
  // `at`: when it was leased.
  void add(const RunRow& run, const std::string& uuid, Timestamp at, Wakeup& wakeup);
  // `due`: when to look at it.
  void add(const std::string& type, LeasedRun run, Timestamp due, Wakeup& wakeup);
  // Queues the statements. Nothing is left on the list.
  std::vector<LeasedTogether> send(Connection& db);

 private:
  struct Type {
    Timestamp look_at;
    std::vector<LeasedRun> runs;
  };
  std::map<std::string, Type> types_;
};

// Runs whose lease has ended go back to the queue, and those whose time has come stand among the ready ones. To be
// called inside a transaction.
void tend_queue(Connection& db, Timestamp now, Wakeup& wakeup);

}  // namespace cairn::postgres
