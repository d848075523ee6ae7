// Which locks make a wait and the signal it is for see each other, whichever commits second.
//
// A signal has the lock of its name and key alone; a wait with a key shares it. A wait without a key fits every signal
// of its name: the name has several locks, a transaction with such waits has one of them alone, by its connection, and
// a signal shares them all. So waits and signals that fit exclude each other until one of them has committed, while
// the usual crowds (signals of one name, waits for different keys, waits without one) do not.
#pragma once

#include <map>
#include <string>

#include "store/postgres/wire/connection.h"

namespace cairn::postgres {

class SignalLocks {
 public:
  // For a transaction on `db`.
  explicit SignalLocks(Connection& db);
  void add_signal(const std::string& name, const std::optional<std::string>& key);
  void add_wait(const std::string& name, const std::optional<std::string>& key);
  bool empty() const { return locks_.empty(); }
  // Queues the statement that takes them, in an order that everybody shares.
  void send() const;

 private:
  void add(std::int64_t lock, bool exclusive) { locks_[lock] |= exclusive; }
  Connection& db_;
  const std::string place_;  // which of a name's locks is this connection's
  std::map<std::int64_t, bool> locks_;
};

}  // namespace cairn::postgres
