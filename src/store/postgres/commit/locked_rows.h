// Rows that another transaction keeps locked. A batch must not wait long for them, because everything behind it would
// wait too. The store refuses the units that need a row which an SQL program has locked. A commit of cairn itself frees
// its rows soon, so units wait for those. Safe from several threads.
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
  // What a unit needs. Neither of the two: none of its rows is locked.
  struct Answer {
    std::optional<Refusal> refusal;
    bool soon = false;  // a row that will be free soon
  };

  // Whether a unit needs a row that an SQL program had locked when the server was asked last.
  bool knows(std::span<const Unit> units) const;
  // Asks the server which rows of the units are locked, without waiting for them. Uses a transaction of its own.
  std::vector<Answer> ask(Connection& db, std::span<const Unit> units, Timestamp now);

 private:
  struct Lock {
    std::string holder;  // the transaction
    bool soon = false;
    Timestamp since, asked_at;
  };

  mutable std::mutex mutex_;
  std::map<std::string, Lock> locks_;   // by row
  std::atomic<std::size_t> count_ = 0;  // of those that `knows`
};

}  // namespace cairn::postgres
