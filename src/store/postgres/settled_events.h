// Up to which sequence the outbox is complete. A transaction takes its sequences before it commits, so a lower sequence
// may appear after a higher one. But every transaction that inserts events holds a lock on the table until it ends.
// When all transactions that held one have ended, no sequence that was taken before can appear any more. Transactions
// that have not written to this table do not matter. Safe from several threads.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "store/outbox_store.h"
#include "store/postgres/wire/connection.h"

namespace cairn::postgres {

class SettledEvents {
 public:
  // A transaction that stays open for longer is no longer waited for: event streams would stand still.
  static constexpr Duration open_max = Duration::of_seconds(600);

  SettledOutbox ask(Connection& db, Timestamp now);

 private:
  // The sequences up to here are complete when these transactions have ended.
  struct Mark {
    std::int64_t up_to;
    std::set<std::string> open;
  };

  std::mutex mutex_;
  std::int64_t settled_ = 0;
  std::deque<Mark> marks_;
  std::map<std::string, Timestamp> seen_;  // the open transactions, and when they were seen first
  Timestamp asked_at_;
};

}  // namespace cairn::postgres
