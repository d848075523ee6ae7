// Two nodes whose statements run in a given order. If one waits for a lock of the other, this is detected on the server
// and the other continues, as it would without the test.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "store/postgres/wire/connection.h"

struct pg_conn;

namespace cairn {

class Orchestra final : public postgres::Conductor {
 public:
  // `url` is for a connection that detects lock waits.
  explicit Orchestra(const std::string& url);
  ~Orchestra() override;

  // Runs both functions. `order[i]` selects who has turn i; if that one is done or waits for the other, the other has
  // the turn. Returns the actual order: who sent the next statement in each turn.
  std::vector<bool> play(const std::function<void()>& first, const std::function<void()>& second,
                         const std::vector<bool>& order);

  void before(postgres::Connection& connection, postgres::Sql statement) override;

 private:
  struct Player {
    bool waiting = false;  // before a statement
    bool may_go = false;
    bool done = false;
    int backend = 0;
  };
  // Waits after a turn until the player reaches its next statement, is done, or waits for a lock.
  bool wait_until_paused(std::unique_lock<std::mutex>& lock, Player& player);
  bool waits_for_lock(int backend);

  std::mutex mutex_;
  std::condition_variable changed_;
  Player players_[2];
  pg_conn* looking_;
};

}  // namespace cairn
