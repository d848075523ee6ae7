// Two nodes whose statements are played in a given order. Whoever waits for a lock of the other is seen on
// the server and the other goes on, as it would by itself.
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
  // `url` for a connection that looks who waits.
  explicit Orchestra(const std::string& url);
  ~Orchestra() override;

  // Runs both. `order[i]` says who has turn i; when that one is done or waits for the other, the other has it.
  // The order that was really played: which of the two sent its next statement, turn by turn.
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
  // After a turn was given: until the player stands before its next statement, is done, or waits for a lock.
  bool settle(std::unique_lock<std::mutex>& lock, Player& player);
  bool waits_for_lock(int backend);

  std::mutex mutex_;
  std::condition_variable changed_;
  Player players_[2];
  pg_conn* looking_;
};

}  // namespace cairn
