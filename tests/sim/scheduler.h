// Runs all activities in one thread, in an order that the dice decide. Time stands still while an activity can run, and
// then jumps to the next wake-up.
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

  // Creates an activity of `node`; it ends with its node. It starts later, not at once.
  std::uint64_t spawn(int node, std::string name, std::function<void()> body);

  // Call inside an activity. Others may run before it continues.
  void yield();
  void sleep(std::int64_t ms);
  // Sleeps until `wake` is called for it or the time is reached.
  void park(std::int64_t until_ms);
  void wake(std::uint64_t activity);

  // Abandons every activity of the node. An activity that kills its own node does not return.
  void kill(int node);

  // Runs one activity until it yields. Returns false if none is left, or if all others sleep beyond `horizon_ms`.
  bool step(std::int64_t horizon_ms);

  Timestamp now() override { return Timestamp::of_unix_ms(now_ms_); }
  std::int64_t now_ms() const { return now_ms_; }
  std::uint64_t current() const { return current_ ? current_->id : 0; }
  int current_node() const { return current_ ? current_->node : no_node; }
  const std::string& current_name() const;
  std::uint64_t steps() const { return steps_; }
  // No activity can run now: all sleep or are done.
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
  std::list<Activity> activities_;  // in creation order
  Activity* current_ = nullptr;
  std::uint64_t last_id_ = 0;
  std::uint64_t steps_ = 0;
};

}  // namespace cairn::sim
