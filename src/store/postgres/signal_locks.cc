#include "store/postgres/signal_locks.h"

#include "store/postgres/lock_key.h"

namespace cairn::postgres {

namespace {

std::string detail(const std::optional<std::string>& key) { return key ? "=" + *key : "-"; }

}  // namespace

void SignalLocks::add_signal(const std::string& name, const std::optional<std::string>& key) {
  add(lock_key("signal", schema_, name), false);
  add(lock_key("signal key", schema_, name, detail(key)), true);
}

void SignalLocks::add_wait(const std::string& name, const std::optional<std::string>& key) {
  if (key) {
    add(lock_key("signal key", schema_, name, detail(key)), false);
  } else {
    add(lock_key("signal", schema_, name), true);
  }
}

void SignalLocks::send(Connection& db) const {
  Column<std::int64_t> keys;
  Column<bool> exclusive;
  for (const auto& [key, alone] : locks_) {
    keys.add(key);
    exclusive.add(alone);
  }
  db.send(Sql::signal_locks, keys, exclusive);
}

}  // namespace cairn::postgres
