// Which locks make a wait and the signal it is for see each other, whichever commits second.
//
// A signal shares the lock of its name and has that of its name and key alone; a wait with a key shares the
// latter, a wait without one has the former alone. So waits and signals that fit exclude each other until
// one of them has committed, while the usual crowds (signals of one name, waits for different keys) do not.
#pragma once

#include <map>
#include <string>

#include "store/postgres/connection.h"

namespace cairn::postgres {

class SignalLocks {
 public:
  explicit SignalLocks(std::string schema) : schema_(std::move(schema)) {}
  void add_signal(const std::string& name, const std::optional<std::string>& key);
  void add_wait(const std::string& name, const std::optional<std::string>& key);
  bool empty() const { return locks_.empty(); }
  // Queues the statement that takes them, in an order that everybody shares.
  void send(Connection& db) const;

 private:
  void add(std::int64_t lock, bool exclusive) { locks_[lock] |= exclusive; }
  std::string schema_;
  std::map<std::int64_t, bool> locks_;
};

}  // namespace cairn::postgres
