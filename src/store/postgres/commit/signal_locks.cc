#include "store/postgres/commit/signal_locks.h"

#include "store/postgres/wire/lock_key.h"

namespace cairn::postgres {

namespace {

// More locks let more transactions open waits without a key at the same time, but each signal takes all of them.
constexpr int locks_per_name = 8;

std::string detail(const std::optional<std::string>& key) { return key ? "=" + *key : "-"; }

}  // namespace

SignalLocks::SignalLocks(Connection& db) : db_(db), place_(std::to_string(db.place() % locks_per_name)) {}

void SignalLocks::add_signal(const std::string& name, const std::optional<std::string>& key) {
  for (int place = 0; place < locks_per_name; ++place) {
    add(lock_key("signal", db_.schema(), name, std::to_string(place)), false);
  }
  add(lock_key("signal key", db_.schema(), name, detail(key)), true);
}

void SignalLocks::add_wait(const std::string& name, const std::optional<std::string>& key) {
  if (key) {
    add(lock_key("signal key", db_.schema(), name, detail(key)), false);
  } else {
    add(lock_key("signal", db_.schema(), name, place_), true);
  }
}

void SignalLocks::send() const {
  Column<std::int64_t> keys;
  Column<bool> exclusive;
  for (const auto& [key, alone] : locks_) {
    keys.add(key);
    exclusive.add(alone);
  }
  db_.send(Sql::signal_locks, keys, exclusive);
}

}  // namespace cairn::postgres
