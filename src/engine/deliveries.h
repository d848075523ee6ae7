// The unit of work. A delivery loads the snapshot of its instance, advances it (slice.h) and commits the result
// (commit/commit_queue.h). Then it concludes from the answer of the store: applied, a repeat, or stale and decided
// again. A start does the same without a snapshot. Read `deliver` in deliver.cc first.
//
// Requests are asynchronous: `done` is called once, when the answer is durable. The calling thread, a thread of the
// queue or a deferred thread calls it. `done` must be quick, may make further requests, and must neither wait nor call
// the store (store_calls.h); use `defer` for work that needs the store. A request is decided at once if everything that
// it needs is in memory, otherwise soon on a deferred thread. While too many requests wait, new ones are refused
// (`overload`); accepted ones are always finished. `wait_for` turns any asynchronous request into a blocking call. Safe
// from several threads.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include "base/done.h"
#include "engine/caller_context.h"
#include "engine/commit/commit_queue.h"
#include "engine/context.h"
#include "engine/deferred_work.h"
#include "engine/delivery.h"
#include "engine/instance_locks.h"
#include "engine/listeners.h"
#include "engine/postponed_work.h"
#include "engine/registry.h"
#include "engine/snapshot_cache.h"
#include "runs/run_leasing.h"
#include "store/store_calls.h"

namespace cairn {

class Deliveries {
 public:
  // Each attempt can meet a concurrent change of the instance. This many in a row are a bug.
  static constexpr int attempts_max = 100;
  static constexpr std::size_t deferred_threads_max = 4;
  // Writes that are not units. As many threads as a PostgreSQL store has connections by default.
  static constexpr std::size_t writes_threads_max = 8;

  using Outcome = Result<Delivered, DeliveryError>;

  Deliveries(EngineContext& context, Registry& registry, RunLeasing& leasing, Listeners& listeners,
             PostponedWork& postponed);

  // Delivers an event to its instance. Deliveries to one instance are decided one after the other.
  void deliver(Delivery delivery, Done<Outcome> done);
  void start(Start start, Done<Outcome> done);
  // Continues slices that a checkpoint interrupted, until every instance waits or has ended. After a crash,
  // DueWork::resume_interrupted_slices does this.
  void continue_slices(std::vector<InstanceId> interrupted, std::function<void()> rested);

  // For loops, which own their thread and block (deliver_all.cc). `deliver_all` decides and submits all deliveries
  // before it waits, so that they share commits. The calling thread calls `each` for every delivery.
  using Each = std::function<void(const Delivery&, const Outcome&)>;
  void deliver_all(std::vector<Delivery> deliveries, const Each& each);
  void continue_and_wait(std::vector<InstanceId> interrupted);
  // Continues postponed slices.
  void retry_postponed();

  // Calls `ask` with a `done` function and waits for the answer.
  template <class Answer, class Ask>
  Answer wait_for(const Ask& ask) {
    return queue_.wait_for<Answer>(ask);
  }
  // Why a new request must be refused now; empty: it may begin.
  std::optional<Error> overload() const;
  // Runs a task that calls the store: now if this thread may call it, otherwise soon on another thread.
  template <class Task>
  void defer(Task task) {
    if (!StoreCallsForbidden::here()) return task();
    deferred_.post(std::move(task));
  }
  // Runs `write`, which waits for the store, on another thread and in the name of the caller. For writes that are not
  // units. `done` gets what it returns, or ErrorCode::unavailable if too many writes wait.
  template <class Write>
  void write_elsewhere(Write write, Done<std::invoke_result_t<Write&>> done) {
    if (writes_.is_full()) return done(too_many_writes());
    writes_.post([scope = AuditScope::current(), write = std::move(write), done = std::move(done)]() mutable {
      done(in_scope(scope, write));
    });
  }
  // For units without an advance.
  CommitQueue& queue() { return queue_; }

  // Who may not have or complete the open task now (rule S36). Reads the store.
  Result<std::vector<std::string>> excluded(const InstanceId& id, const TaskId& task);
  // The snapshot that this node committed or read last; nullptr: not cached.
  SharedSnapshot cached(const InstanceId& id) { return cache_.find(id); }
  // The store reports the end of an instance. An empty id: reports may have been lost.
  void hear_of_end(const InstanceId& id);

  // Finishes submitted requests. Later requests get ErrorCode::unavailable.
  void stop();

 private:
  struct Attempt;
  using SharedAttempt = std::shared_ptr<Attempt>;
  struct StartAttempt;

  Setting setting(const Program& program);
  Error too_many_writes() const;

  Result<SharedSnapshot, DeliveryError> load(const InstanceId& id);
  // Loads the snapshot, from the cache if allowed, and advances it.
  Result<Decision, DeliveryError> decide(const Delivery& delivery, bool may_use_cache);
  void take_cause(const Delivery& delivery, Decision& decision);
  // Decides and commits. Each answer of the store starts the next step.
  void try_delivery(const SharedAttempt& attempt);
  void commit(const SharedAttempt& attempt);
  void refuse_unless_repeated(const SharedAttempt& attempt, Outcome refused);
  // Evaluates the answer of the store. An empty optional: the delivery must be decided again.
  void conclude(const SharedAttempt& attempt, CommitOutcome& outcome);
  Result<std::optional<Delivered>, DeliveryError> conclude(const Delivery& delivery, Decision& decision,
                                                           CommitOutcome& outcome);
  // After a commit: updates the cache, calls the listeners and hands over the runs that started leased. Returns the
  // last snapshot of the instance that the slice began with, moved out of the slice.
  SharedSnapshot committed(Slice& slice, CommitOutcome& outcome);
  void end(const SharedAttempt& attempt, Outcome outcome);

  // Starts (start.cc). `prepare_start` returns the first answer if the key is known; empty: the slice is ready.
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
  InstanceLocks locks_;
  DeferredWork deferred_;
  DeferredWork writes_;
  CommitQueue queue_;
};

}  // namespace cairn
