// The locks that make a wait and its signal see each other, whichever commits second.
//
// A signal takes an exclusive lock on its name and key. A wait with a key takes the same lock in shared mode. A wait
// without a key matches every signal of its name. So each name has several locks: a transaction with such waits takes
// one of them exclusively, selected by its connection, and a signal shares all of them. Matching waits and signals
// therefore exclude each other until one has committed. The usual crowds (signals of one name, waits for different
// keys, waits without a key) do not.
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
  // Queues the statement that takes the locks, in the common lock order.
  void send() const;

 private:
  void add(std::int64_t lock, bool exclusive) { locks_[lock] |= exclusive; }
  Connection& db_;
  const std::string place_;  // selects this connection's lock among those of a name
  std::map<std::int64_t, bool> locks_;
};

}  // namespace cairn::postgres
