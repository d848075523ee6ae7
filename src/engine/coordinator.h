// Ties the interpreter to a store. It owns the unit of work: load, advance, commit, and on `stale`
// again from the load. Every request and every wake-up comes through here; an answer is given after
// its commit. Safe from several threads.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "engine/actor.h"
#include "engine/commit_queue.h"
#include "engine/deferred_work.h"
#include "engine/delivery.h"
#include "engine/lanes.h"
#include "runs/lease_waiters.h"
#include "runs/leased_runs.h"
#include "engine/registry.h"
#include "engine/result_waiters.h"
#include "runs/run_intake.h"
#include "runs/run_types.h"
#include "engine/snapshot_cache.h"
#include "interpreter/advance.h"
#include "store/store.h"

namespace cairn {

struct StartRequest {
  std::string definition;
  std::optional<std::string> version;  // absent: the newest
  Json input = Json::object();
  std::optional<Reference> reference;
  std::string id;               // empty: a new one
  std::string idempotency_key;  // empty: none
  Actor actor;
  std::string traceparent = {};  // the caller's trace, which the instance goes on with; empty or malformed: its own
};

// How an instance stood when the request was committed.
struct InstanceAnswer {
  InstanceId instance;
  std::uint64_t version = 0;
  Status status = Status::running;
  Json output;
  bool repeated = false;  // an earlier request with the same key or signal id did it
};

struct SignalRequest {
  std::string id;  // empty: a new one
  std::string name;
  Json key;  // text or null
  Json payload;
  Actor actor;
};

struct TaskCompletion {
  TaskId task;
  Json payload;
  std::optional<std::uint64_t> version;  // of the task's row, when the caller has seen it
  std::string idempotency_key;
  Actor actor;
};

// How long one attempt at a run may last. A time that lies further ahead than the calendar goes could not be kept.
inline constexpr Duration run_timeout_max = Duration::of_seconds(3650ll * 86'400);

// A run on its own, without any workflow.
struct RunOrder {
  std::string id;  // empty: a new one
  std::string type;
  Json payload;
  std::string idempotency_key;  // empty: none
  std::int64_t priority = 0;    // higher first
  std::optional<Timestamp> run_at;
  std::optional<Duration> delay;  // instead of `run_at`: from the store's now
  int attempts_max = 3;
  Duration backoff = Duration::of_seconds(1);
  double factor = 2;
  Duration cap = Duration::of_seconds(300);
  double jitter = 0.5;
  std::optional<Duration> timeout;  // for each attempt
  std::string traceparent = {};     // the caller's trace, which the run goes on with; empty or malformed: its own
};

// Of orders that came together, in their order.
struct SubmittedRuns {
  std::vector<RunRow> rows;             // as they stand in the store
  std::vector<bool> fresh;              // false: it repeats a run, which stands here
  std::map<std::size_t, Error> errors;  // of repeats that ask for other work than the first one did
};

// What a worker reports. A failure is retried while attempts are left and its class allows it.
struct RunReport {
  RunId run;
  std::uint64_t fence = 0;
  Json result;
  std::optional<Failure> failure;
  bool retry = true;                    // false: the worker knows that trying again is no use
  std::optional<Duration> retry_after;  // instead of the policy's delay, up to its cap
  std::string worker;
  std::optional<DeadLetter> letter = {};  // written in the commit that ends the run
  std::optional<RunRow> leased = {};      // as it was leased, from whoever has it: then nobody looks it up
  std::string account = {};               // must hold the lease (store/lease_holder.h); empty: not checked
};
enum class RunAnswer { finished, will_retry, lease_lost };
// Whether the same report may be taken when it comes again: the store was away, too much waited, or its instance kept
// changing.
bool may_report_again(const Error& refused);

struct CoordinatorOptions {
  std::string node = "node";  // a random part is added: a restarted host owns nothing of its predecessor's
  Json config = Json::object();
  Limits limits;
  bool strict_definitions = true;
  Duration deploy_grace = Duration::of_seconds(60);  // how long a missing definition may still arrive
  Duration hold = Duration::of_seconds(30);          // how long taken work stays ours without a commit
  std::size_t due_batch = 1024;                      // messages or timers that are taken at a time
  int refused_attempts = 1;                          // of one that the store refuses; then it is given up
  bool dead_letters = true;                          // for what is given up; otherwise it is only logged
  std::size_t snapshots_cached = 4096;
  bool trace = false;  // units tell which steps and lanes they went through (Advance::trace)
  // For a host that runs many activities on one thread: no thread is started and none is blocked. Units are
  // committed by whoever waits for one, and an activity that must wait for another one calls this meanwhile.
  std::function<void()> yield;
};

class Coordinator {
 public:
  // One instance that many decide about at once moves with each try; this many in a row is somebody's bug.
  static constexpr int attempts_max = 100;

  // `store` outlives it and has no other listener.
  static Result<std::unique_ptr<Coordinator>> open(Store& store, CoordinatorOptions options);
  ~Coordinator();

  Store& store() { return store_; }
  Registry& registry() { return registry_; }
  const std::string& node() const { return node_; }
  const Json& config() const { return options_.config; }
  const Limits& limits() const { return options_.limits; }
  Duration hold() const { return options_.hold; }  // how long taken work stays ours without a commit

  // Instances. Errors: not_found, invalid (the input), conflict (key with another body, id taken).
  Result<InstanceAnswer> start(const StartRequest& request);
  // To one instance; kept by it when it does not wait for it yet. conflict when it has ended.
  Result<InstanceAnswer> signal(const InstanceId& id, const SignalRequest& request);
  // The same for programs that have many requests under way and no thread to wait with: `done` is called once, when it
  // is durable, from this thread, one of the queue's or a deferred one. It must be quick, may ask again this way, and
  // must neither wait nor call the store (store_calls.h); `defer` is for what needs the store. What it asks is decided
  // at once when all that is needed is in memory, else soon on a deferred thread.
  using Done = std::function<void(Result<InstanceAnswer>)>;
  void start(StartRequest request, Done done);
  void signal(InstanceId id, SignalRequest request, Done done);
  // To everybody who waits for name and key, else kept for `ttl`.
  Result<SignalOutcome> broadcast(const SignalRequest& request, Duration ttl);
  // cancel, suspend, resume, retry, skip, edit. With `version`, conflict when the instance has moved.
  Result<InstanceAnswer> request(const InstanceId& id, EventBody what, const Actor& actor,
                                 std::optional<std::uint64_t> version = {});
  Result<void> remove(const InstanceId& id, const std::string& reason);
  // The instance once it has ended or is suspended, or as it is when the time is over.
  Result<Snapshot> wait_for(const InstanceId& id, std::chrono::milliseconds limit);

  // Tasks. not_allowed for the wrong person, conflict when it is closed or has changed.
  Result<InstanceAnswer> complete_task(const TaskCompletion& completion);
  // `assignee_roles`: roles of the new assignee, when they are known; one who cannot complete it is refused.
  Result<TaskRow> change_task(const TaskChange& change, const Actor& actor,
                              const std::optional<std::vector<std::string>>& assignee_roles = {});

  // Runs. A known idempotency key answers with the first run; with another type or payload it is a conflict.
  void submit_run(const RunOrder& order, RunIntake::Answer answer);  // called once, maybe from another thread
  Result<SubmittedRun> submit_run(const RunOrder& order);
  // One transaction; nothing is written when one of them is not valid.
  Result<SubmittedRuns> submit_runs(std::span<const RunOrder> orders);
  // How runs of a type are treated. ErrorCode::invalid for a key expression that does not compile.
  Result<void> put_run_type(const RunTypeRow& row) { return run_types_.put(row); }
  Result<bool> remove_run_type(const std::string& type) { return run_types_.remove(type); }
  // Workers elsewhere lease here.
  LeaseWaiters& lease_waiters() { return lease_waiters_; }
  // Spares their reports a look at the store.
  void remember_leases(std::span<const RunRow> runs) { leased_runs_.remember(runs); }
  Result<RunAnswer> report(const RunReport& report);
  // Each on its own; what goes into one commit is the queue's business. Of a report only `run` and `fence` are left.
  std::vector<Result<RunAnswer>> report_all(std::span<RunReport> reports);
  using Reported = std::function<void(std::vector<Result<RunAnswer>>)>;
  void report_all(std::span<RunReport> reports,
                  Reported done);  // `done` as above; asked on a thread that may wait
  Result<RunRow> cancel_run(const RunId& id, const Actor& actor);
  // Hides a run. conflict when a worker has it or an instance waits for it.
  Result<RunRow> remove_run(const RunId& id, const std::string& reason, const Actor& actor);
  // New runs of these types begin leased to this node and are handed to `take` after their commit.
  void lease_here(std::vector<std::string> types, Duration length, std::function<void(RunRow)> take);
  // New runs begin pending again. `take` may still get some, of commits that are under way.
  void stop_leasing_here();

  // Dead letters. False: there is no such letter. conflict when what it was about has gone on since.
  Result<bool> replay_dead_letter(std::int64_t id, const Actor& actor);

  // When there is something to do next, for whoever looked at everything that was due at `looked_at`: the earliest that
  // the store knows, and what could not be done before.
  Result<std::optional<Timestamp>> next_due(Timestamp looked_at);
  Result<std::optional<Timestamp>> next_due() { return next_due(store_.now()); }
  // One bounded batch of what is due; how much there was. The loops call these, and so do tests.
  std::size_t fire_timers() { return fire_timers(options_.due_batch); }
  std::size_t fire_timers(std::size_t max);
  std::size_t dispatch_messages();
  std::size_t end_exhausted_runs();
  // Goes on with slices that a checkpoint cut and a crash left: once, after opening.
  std::size_t resume_interrupted_slices();
  // All of it until nothing is due. Schedules are not fired (schedule/schedules.h).
  void run_until_idle();

  // Where wake-ups go, besides those who wait for results. Set before the first request.
  void on_wakeup(WakeupListener listener);
  // Told of each instance that has ended, once that is durable, by a thread that must not wait: it must be quick and
  // must neither call here nor the store. Set before the first request.
  void on_ended(std::function<void(const InstanceId&)> told) { ended_ = std::move(told); }
  // Follows runs without an instance (a schedule follows the runs that it started). `follows` selects them; `ended` is
  // called when the end is durable, by the thread that reported it, and may call here. Set before the first request.
  struct RunFollower {
    std::function<bool(const RunRow&)> follows;
    std::function<void(const RunRow&)> ended;
  };
  void follow_runs(RunFollower follower) { run_follower_ = std::move(follower); }
  // One more, for as long as the handle is kept; at any time. It must neither block nor call here.
  std::shared_ptr<void> listen(WakeupListener listener);
  ResultWaiters& result_waiters() { return waiters_; }
  // Whether this node knows that it goes on. What it ends here is told to the waiters; another node may have
  // ended it, so whoever relies on this looks at the store when nothing was heard for `unseen_max`.
  bool goes_on(const InstanceId& id) const;
  static constexpr std::chrono::milliseconds unseen_max{250};
  // Told of each unit that this node committed, by the thread that asked for it: it must be quick and must not call
  // here. Set before the first request.
  using Observer = std::function<void(const Slice& committed)>;
  void observe(Observer observer) { observer_ = std::move(observer); }
  // Finishes what was submitted; later requests are ErrorCode::unavailable.
  void stop();
  bool stopping() const { return stopped_; }

  // Does something that may wait for the store: at once where that is allowed, else soon on another thread.
  void defer(std::function<void()> task);
  // Keeps the answer to a request under its key. `kept` is called once, as `done` above.
  void keep_answer(IdempotencyKey key, std::function<void(Result<void>)> kept);
  // For how long commits are queued and none makes progress; zero when all is well. Never blocks.
  std::chrono::nanoseconds commit_stalled_for() const { return queue_.stalled_for(); }

 private:
  Coordinator(Store& store, CoordinatorOptions options);

  Setting setting(const Program& program);
  void pass_on(const Wakeup& wakeup);
  void tell_ended(const InstanceId& id);
  Result<void> check(const SignalRequest& request) const;
  // A start that is ready to be written.
  struct PreparedStart {
    InstanceId id;
    std::optional<IdempotencyKey> key;
    Slice slice;
  };
  Result<std::variant<InstanceAnswer, PreparedStart>> prepare_start(const StartRequest& request);
  void submit(Result<std::variant<InstanceAnswer, PreparedStart>> begun, Done done);
  // What the commit's answer means.
  Result<InstanceAnswer> finish_start(PreparedStart& prepared, Result<CommitOutcome> written);
  Result<InstanceAnswer> rested(const InstanceId& id);
  Result<Delivery> delivery_of(const InstanceId& id, const SignalRequest& request) const;
  Result<InstanceAnswer> signalled(Result<Delivered, DeliveryError> delivered, const InstanceId& id);
  // What an idempotency key does not remember of the first answer: the output, and where a slice that was cut came to.
  Result<InstanceAnswer> with_output(InstanceAnswer again);
  Result<InstanceAnswer> started_before(const IdempotencyKey& key, const Json& first, bool same_request);
  // One attempt to decide, on the cached snapshot or the stored one.
  Result<Decision, DeliveryError> decide(const Delivery& delivery, bool may_use_cache);
  // What follows from a commit: the cache, runs that this node leased.
  // Gives the last version of the instance that the slice began with; the slice has none any more.
  SharedSnapshot committed(Slice& slice, CommitOutcome& outcome);
  // What a commit's answer means; nothing: decide again.
  Result<std::optional<Delivered>, DeliveryError> conclude(const Delivery& delivery, Decision& decision, CommitOutcome& outcome);
  // Decides and commits until it is written or cannot be; nobody waits on a thread (attempt.cc).
  using Reached = std::function<void(Result<Delivered, DeliveryError>)>;
  struct CallerContext;
  struct DeliveryAttempt;
  void try_delivery(const std::shared_ptr<DeliveryAttempt>& attempt);
  void refuse_unless_repeated(const std::shared_ptr<DeliveryAttempt>& attempt, DeliveryError refused);
  // What the answer to its commit means for it.
  void conclude_attempt(const std::shared_ptr<DeliveryAttempt>& attempt, CommitOutcome& outcome);
  void deliver(Delivery delivery, Reached reached);
  // Slices that a checkpoint cut go on until they rest. A crash in between leaves them to resume_interrupted_slices.
  void continue_slices(std::vector<InstanceId> cut, std::function<void()> rested);
  // For those who wait.
  Result<Delivered, DeliveryError> deliver(Delivery delivery);
  void continue_slices(std::vector<InstanceId> cut);
  // Slices that were cut and that a failing store kept from going on: tried again after the hold.
  void defer_slices(const std::vector<InstanceId>& cut);
  void retry_deferred();
  // When the hold is over, at everything that is due then: something of it could not be done now.
  void look_again();
  void deliver_all(std::vector<Delivery> deliveries);
  void drop_repeat(const Delivery& delivery);
  bool may_try_again(const Delivery& delivery);
  void dead_letter_or_park(const Delivery& delivery, const DeliveryError& failed);
  Result<std::optional<DeadLetter>> find_dead_letter(std::int64_t id);
  Result<void> replay_run(const DeadLetter& letter, const Actor& actor);
  Result<InstanceAnswer> answer(Result<Delivered, DeliveryError> delivered, const InstanceId& id);
  // Of orders that come together most are of one type: what must be known of it is asked for once.
  struct OrderedType {
    std::string name;
    std::shared_ptr<const expr::Expression> counted_by;  // nullptr: its limits have no key
  };
  // Of a new row. Without an id when the order has none.
  Result<void> fill(RunRow& row, const RunOrder& order, Timestamp now, OrderedType& type);
  // What an instance gives to the events about it (carried_trace.h); never changes.
  std::string trace_of(const InstanceId& id);
  // What a report comes to, as far as it can be told without its commit: an answer, or the end to commit.
  struct ReportedEnd {
    RunEnd end;
    RunRow run;
    std::optional<Failure> failure;
    std::vector<DeadLetter> letters;
  };
  Result<std::variant<RunAnswer, ReportedEnd>> prepare_end(RunReport& report);
  // `directly`: those that no instance waits for are written by this thread, without the queue.
  void report_all(std::span<RunReport> reports, bool directly, Reported done);
  Delivery delivery_of(const ReportedEnd& reported) const;
  Unit unit_of(const ReportedEnd& reported) const;  // of one without an instance
  Result<RunAnswer> end_alone(const ReportedEnd& reported);
  Result<RunAnswer> ended_by(const RunEnd& end, Result<Delivered, DeliveryError> delivered);
  // What a slice with new runs says about leasing them. An error when the store cannot tell how they are counted.
  Result<void> lease_new_runs(Slice& slice);
  Result<RunAnswer> end_exhausted(const RunRow& run);

  Store& store_;
  CoordinatorOptions options_;
  Observer observer_;
  std::function<void(const InstanceId&)> ended_;
  RunFollower run_follower_{[](const RunRow&) { return false; }, [](const RunRow&) {}};
  std::string node_;
  Registry registry_;
  SnapshotCache cache_;
  Lanes lanes_;
  ResultWaiters waiters_;
  std::mutex listener_mutex_;
  WakeupListener listener_;
  struct Listeners {
    std::mutex mutex;
    std::list<WakeupListener> list;
  };
  std::shared_ptr<Listeners> listeners_ = std::make_shared<Listeners>();  // shared with the handles of `listen`

  std::mutex lease_mutex_;
  std::optional<RunLease> lease_;
  std::function<void(RunRow)> take_run_;

  std::mutex deferred_slices_mutex_;
  std::set<std::string> deferred_slices_;
  std::optional<Timestamp> again_at_;  // see look_again; under the same lock

  std::mutex grace_mutex_;
  std::map<std::string, Timestamp> missing_since_;  // what waits for a definition that is not here
  std::map<std::string, int> refused_;              // how often each was, of those that may be tried again
  std::map<std::string, Timestamp> unended_;        // runs that could not be ended, until when they are left alone

  std::atomic<bool> stopped_ = false;
  DeferredWork deferred_;
  std::atomic<std::uint32_t> broadcasts_{0};  // to count kept signals now and then
  CommitQueue queue_;
  RunTypes run_types_;
  LeasedRuns leased_runs_;
  RunIntake run_intake_;
  LeaseWaiters lease_waiters_;
};

}  // namespace cairn
