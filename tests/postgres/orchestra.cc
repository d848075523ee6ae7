#include "orchestra.h"

#include <gtest/gtest.h>
#include <libpq-fe.h>

namespace cairn {

namespace {
thread_local int player_number = -1;  // -1: not a player
}

Orchestra::Orchestra(const std::string& url) : looking_(PQconnectdb(url.c_str())) {
  EXPECT_EQ(PQstatus(looking_), CONNECTION_OK) << PQerrorMessage(looking_);
  postgres::Connection::conduct(this);
}

Orchestra::~Orchestra() {
  postgres::Connection::conduct(nullptr);
  PQfinish(looking_);
}

void Orchestra::before(postgres::Connection& connection, postgres::Sql) {
  if (player_number < 0) return;
  std::unique_lock lock(mutex_);
  Player& player = players_[player_number];
  player.backend = PQbackendPID(connection.handle());
  player.waiting = true;
  changed_.notify_all();
  changed_.wait(lock, [&] { return player.may_go; });
  player.may_go = false;
}

bool Orchestra::waits_for_lock(int backend) {
  const std::string number = std::to_string(backend);
  const char* values[] = {number.c_str()};
  PGresult* result = PQexecParams(looking_, "SELECT cardinality(pg_blocking_pids($1::integer)) > 0", 1, nullptr, values,
                                  nullptr, nullptr, 0);
  const bool waits = PQntuples(result) == 1 && PQgetvalue(result, 0, 0)[0] == 't';
  PQclear(result);
  return waits;
}

bool Orchestra::wait_until_paused(std::unique_lock<std::mutex>& lock, Player& player) {
  for (;;) {
    if (changed_.wait_for(lock, std::chrono::milliseconds(2), [&] { return player.waiting || player.done; })) {
      return true;
    }
    const int backend = player.backend;
    lock.unlock();
    const bool blocked = waits_for_lock(backend);
    lock.lock();
    if (blocked && !player.waiting && !player.done) return false;
  }
}

std::vector<bool> Orchestra::play(const std::function<void()>& first, const std::function<void()>& second,
                                  const std::vector<bool>& order) {
  players_[0] = players_[1] = {};
  std::vector<std::jthread> threads;
  const std::function<void()>* parts[] = {&first, &second};
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([this, i, part = parts[i]] {
      player_number = i;
      (*part)();
      const std::lock_guard lock(mutex_);
      players_[i].done = true;
      changed_.notify_all();
    });
  }
  std::vector<bool> played;
  std::unique_lock lock(mutex_);
  changed_.wait(
      lock, [this] { return (players_[0].waiting || players_[0].done) && (players_[1].waiting || players_[1].done); });
  while (!players_[0].done || !players_[1].done) {
    const std::size_t turn = played.size();
    std::size_t who = turn < order.size() && order[turn] ? 1 : 0;
    if (!players_[who].waiting) who = 1 - who;
    if (!players_[who].waiting) {
      // Neither is before a statement: one waits for a lock that the other has just released.
      changed_.wait(lock, [this] {
        return players_[0].waiting || players_[1].waiting || (players_[0].done && players_[1].done);
      });
      continue;
    }
    Player& player = players_[who];
    player.waiting = false;
    player.may_go = true;
    changed_.notify_all();
    played.push_back(who == 1);
    wait_until_paused(lock, player);
  }
  return played;
}

}  // namespace cairn
