// Who is told of what this node commits and hears: the loops, waiting clients, schedules, telemetry. Safe from several
// threads, except that listeners with "before the first request" are set by the thread that opens the engine.
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
  // Told of each unit that this node committed, by the thread that concludes it: it must be quick and must not call
  // the engine.
  using Observer = std::function<void(const Slice& committed)>;
  // Told of each instance that has ended, once that is durable, by a thread that must not wait: it must be quick and
  // must call neither the engine nor the store.
  using Ended = std::function<void(const InstanceId&)>;

  // Where wake-ups go. Once it is taken away with `{}`, no thread is inside it any more.
  void on_wakeup(WakeupListener listener);
  // One more, for as long as the handle is kept; at any time. It must neither block nor call the engine.
  std::shared_ptr<void> listen(WakeupListener listener);
  // These three before the first request.
  void on_ended(Ended ended) { ended_ = std::move(ended); }
  void follow_runs(RunFollower follower) { run_follower_ = std::move(follower); }
  void observe(Observer observer) { observer_ = std::move(observer); }
  // Those who wait for the end of one instance.
  ResultWaiters& results() { return results_; }

  // For the engine, which tells them.
  void tell(const Wakeup& wakeup);
  void tell_committed(const Slice& slice);
  // What a commit of this node has made of an instance.
  void tell_changed(const Snapshot& after);
  void tell_ended_elsewhere(const InstanceId& id);
  bool follows(const RunRow& run) const { return run_follower_.follows(run); }
  void tell_run_ended(const RunRow& run) const;
  // Wakes all who wait; no wake-up is passed on after it.
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
