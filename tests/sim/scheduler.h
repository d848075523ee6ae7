// Everything that happens, in one thread and in an order that the dice decide. Time stands still while
// anything can run and then jumps to whoever wakes up first.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "base/clock.h"
#include "dice.h"
#include "fiber.h"

namespace cairn::sim {

// The owner of activities that no crash ends: clients, workers, operators.
inline constexpr int no_node = -1;

class Scheduler final : public Clock {
 public:
  Scheduler(std::uint64_t seed, Timestamp start) : dice_(seed), now_ms_(start.unix_ms()) {}

  // An activity of `node`; it ends with its node. Begins later, not at once.
  std::uint64_t spawn(int node, std::string name, std::function<void()> body);

  // From inside an activity. Others may run before it goes on.
  void yield();
  void sleep(std::int64_t ms);
  // Until `wake` is called for it or the time has come.
  void park(std::int64_t until_ms);
  void wake(std::uint64_t activity);

  // Abandons every activity of the node. One that kills its own node does not return.
  void kill(int node);

  // Runs one activity for one stretch. False: there is none left, or all that is left sleeps beyond `horizon_ms`.
  bool step(std::int64_t horizon_ms);

  Timestamp now() override { return Timestamp::of_unix_ms(now_ms_); }
  std::int64_t now_ms() const { return now_ms_; }
  std::uint64_t current() const { return current_ ? current_->id : 0; }
  int current_node() const { return current_ ? current_->node : no_node; }
  const std::string& current_name() const;
  std::uint64_t steps() const { return steps_; }
  // Nothing is ready to run now: everybody sleeps or is done.
  bool idle() const;

 private:
  struct Activity {
    std::uint64_t id = 0;
    int node = no_node;
    std::string name;
    std::int64_t wake_at = 0;
    bool dead = false;
    std::unique_ptr<Fiber> fiber;
  };

  void suspend();

  Dice dice_;
  std::int64_t now_ms_;
  std::list<Activity> activities_;  // in the order they were made
  Activity* current_ = nullptr;
  std::uint64_t last_id_ = 0;
  std::uint64_t steps_ = 0;
};

}  // namespace cairn::sim
