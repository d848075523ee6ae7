// Rows that another transaction keeps locked, mostly that of an SQL program. A batch must not wait for them, because
// everything behind it would wait too: the store refuses the units that need them and commits the others. Safe from
// several threads.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/postgres/wire/connection.h"
#include "store/unit.h"

namespace cairn::postgres {

class LockedRows {
 public:
  struct Refusal {
    Error error;
    Duration retry_after;  // grows with the time for which the row is locked
  };

  // Whether a unit needs a row that was locked when the server was asked last.
  bool knows(std::span<const Unit> units) const;
  // Asks the server which rows of the units are locked, without waiting for them. Answers a refusal for each unit that
  // needs one of them. Uses a transaction of its own.
  std::vector<std::optional<Refusal>> ask(Connection& db, std::span<const Unit> units, Timestamp now);

 private:
  struct Lock {
    Timestamp since, asked_at;
  };

  mutable std::mutex mutex_;
  std::map<std::string, Lock> locks_;  // by row
  std::atomic<std::size_t> count_ = 0;
};

}  // namespace cairn::postgres
