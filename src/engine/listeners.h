// Passes on what this node commits and what it hears from the store: to the loops, waiting clients, schedules and
// telemetry. Safe from several threads, except that the thread that opens the engine sets the listeners marked with
// "before the first request".
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <mutex>

#include "engine/result_waiters.h"
#include "engine/slice.h"
#include "store/store.h"

namespace cairn {

// Follows runs without an instance (a schedule follows the runs that it started). `follows` selects them; `ended` is
// called when the end is durable, by the thread that reported it, and may call the engine.
struct RunFollower {
  std::function<bool(const RunRow&)> follows;
  std::function<void(const RunRow&)> ended;
};

class Listeners {
 public:
  // Called for each unit that this node committed, by the thread that concludes it. It must be quick and must not call
  // the engine.
  using Observer = std::function<void(const Slice& committed)>;
  // Called for each instance that has ended, when that is durable, by a thread that must not wait. It must be quick and
  // must call neither the engine nor the store.
  using Ended = std::function<void(const InstanceId&)>;

  // Receives wake-ups. After it is removed with `{}`, no thread is inside it.
  void on_wakeup(WakeupListener listener);
  // Adds a listener until the handle is destroyed, at any time. It must neither block nor call the engine.
  std::shared_ptr<void> listen(WakeupListener listener);
  // Set these three before the first request.
  void on_ended(Ended ended) { ended_ = std::move(ended); }
  void follow_runs(RunFollower follower) { run_follower_ = std::move(follower); }
  void observe(Observer observer) { observer_ = std::move(observer); }
  // Clients that wait for the end of one instance.
  ResultWaiters& results() { return results_; }

  // For the engine, which calls the listeners.
  void tell(const Wakeup& wakeup);
  void tell_committed(const Slice& slice);
  // The state of an instance after a commit of this node.
  void tell_changed(const Snapshot& after);
  void tell_ended_elsewhere(const InstanceId& id);
  bool follows(const RunRow& run) const { return run_follower_.follows(run); }
  void tell_run_ended(const RunRow& run) const;
  // Wakes all waiters. Passes on no wake-up after it.
  void stop();

 private:
  Observer observer_;
  Ended ended_;
  RunFollower run_follower_{[](const RunRow&) { return false; }, [](const RunRow&) {}};
  ResultWaiters results_;
  std::mutex wakeup_mutex_;
  WakeupListener wakeup_;
  struct Further {
    std::mutex mutex;
    std::list<WakeupListener> list;
  };
  std::shared_ptr<Further> further_ = std::make_shared<Further>();  // shared with the handles of `listen`
};

}  // namespace cairn
