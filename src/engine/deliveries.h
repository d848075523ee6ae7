// The unit of work. A delivery loads the snapshot of its instance, advances it (slice.h), commits the result
// (commit_queue.h) and concludes what the answer of the store means: applied, a repeat, or stale and decided again. A
// start does the same without a snapshot. Read `deliver` in deliver.cc first.
//
// Requests are asynchronous: `done` is called once, when the answer is durable, by the asking thread, a thread of the
// queue or a deferred one. It must be quick, may ask again, and must neither wait nor call the store (store_calls.h);
// `defer` is for what needs the store. A request is decided at once when everything needed is in memory, else soon on a
// deferred thread. `wait_for` turns any asynchronous request into a call that waits. Safe from several threads.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "engine/commit/commit_queue.h"
#include "engine/context.h"
#include "engine/deferred_work.h"
#include "engine/delivery.h"
#include "engine/lanes.h"
#include "engine/listeners.h"
#include "engine/postponed_work.h"
#include "engine/registry.h"
#include "engine/snapshot_cache.h"
#include "runs/run_leasing.h"
#include "store/store_calls.h"

namespace cairn {

class Deliveries {
 public:
  // One instance that many decide about at once moves with each try; this many in a row is a bug.
  static constexpr int attempts_max = 100;

  using Outcome = Result<Delivered, DeliveryError>;
  using Done = std::function<void(Outcome)>;

  Deliveries(EngineContext& context, Registry& registry, RunLeasing& leasing, Listeners& listeners,
             PostponedWork& postponed);

  // Brings an event to its instance. Deliveries to one instance are decided one after the other.
  void deliver(Delivery delivery, Done done);
  void start(Start start, Done done);
  // Continues slices that a checkpoint interrupted until they rest. After a crash in between
  // DueWork::resume_interrupted_slices does it.
  void continue_slices(std::vector<InstanceId> interrupted, std::function<void()> rested);

  // For loops, which own their thread and wait (deliver_all.cc). `deliver_all` decides and submits all of them before
  // waiting for any, so that they share commits. `told` is called by this thread for each.
  using Told = std::function<void(const Delivery&, const Outcome&)>;
  void deliver_all(std::vector<Delivery> deliveries, const Told& told);
  void continue_and_wait(std::vector<InstanceId> interrupted);
  // Tries again to continue slices that were postponed.
  void retry_postponed();

  // Asks with a function that is given `done`, and waits for the answer.
  template <class Answer, class Ask>
  Answer wait_for(const Ask& ask) {
    return queue_.wait_for<Answer>(ask);
  }
  // Does something that may call the store: at once where that is allowed, else soon on another thread.
  template <class Task>
  void defer(Task task) {
    if (!StoreCallsForbidden::here()) return task();
    deferred_.post(std::move(task));
  }
  // For units without an advance.
  CommitQueue& queue() { return queue_; }

  // The snapshot that this node committed or read last; nullptr: unknown here.
  SharedSnapshot cached(const InstanceId& id) { return cache_.find(id); }
  // Whether this node knows that the instance neither ended nor is suspended. Another node may have ended it since.
  bool goes_on(const InstanceId& id) const;
  // The store says that an instance has ended; an empty id: ends may have been missed.
  void hear_of_end(const InstanceId& id);

  // Finishes what was submitted; later requests are ErrorCode::unavailable.
  void stop();

 private:
  struct Attempt;
  using SharedAttempt = std::shared_ptr<Attempt>;
  struct StartAttempt;

  Setting setting(const Program& program);

  Result<SharedSnapshot, DeliveryError> load(const InstanceId& id);
  // Loads, from the cache if that is allowed, and advances.
  Result<Decision, DeliveryError> decide(const Delivery& delivery, bool may_use_cache);
  void take_cause(const Delivery& delivery, Decision& decision);
  // Decides and commits; each answer of the store takes the next step.
  void try_delivery(const SharedAttempt& attempt);
  void commit(const SharedAttempt& attempt);
  void refuse_unless_repeated(const SharedAttempt& attempt, Outcome refused);
  // What the answer of the store means. `conclude` gives nothing when the delivery is to be decided again.
  void conclude(const SharedAttempt& attempt, CommitOutcome& outcome);
  Result<std::optional<Delivered>, DeliveryError> conclude(const Delivery& delivery, Decision& decision,
                                                           CommitOutcome& outcome);
  // What follows from a commit: cache, listeners, runs that began leased. Gives the last version of the instance that
  // the slice began with; the slice has none any more.
  SharedSnapshot committed(Slice& slice, CommitOutcome& outcome);
  void end(const SharedAttempt& attempt, Outcome outcome);

  // Starts (start.cc). `prepare_start` gives the first answer when the key is known; nothing: its slice is ready.
  Result<std::optional<Delivered>, DeliveryError> prepare_start(StartAttempt& attempt);
  void commit_start(const std::shared_ptr<StartAttempt>& attempt,
                    Result<std::optional<Delivered>, DeliveryError> prepared);
  Outcome finish_start(StartAttempt& attempt, Result<CommitOutcome> written);
  Outcome started_and_rested(const InstanceId& id);

  EngineContext& context_;
  Store& store_;
  Registry& registry_;
  RunLeasing& leasing_;
  Listeners& listeners_;
  PostponedWork& postponed_;
  SnapshotCache cache_;
  Lanes lanes_;
  DeferredWork deferred_;
  CommitQueue queue_;
};

}  // namespace cairn
