// src/store keeps everything durable: instances, runs, tasks, signals, timers, the outbox, schedules, credentials and
// the audit trail. It uses src/instance for the values, and SQLite, libpq and Redis in the back ends; it knows nothing
// of programs. Three back ends implement the same contract: memory/ (the model), sqlite/ and postgres/. tests/contract
// runs on each. Read Store::commit in this file and Unit in unit.h first: a unit is everything that one decision
// writes.
//
// Each function of Store is one whole decision and one transaction. Its answer is durable. All are safe from several
// threads, and each may block on the disk or the network.
//
// Errors: unavailable (cannot write now: disk full, file locked; nothing was changed), corrupt (a row is inconsistent),
// internal. Ordinary outcomes are part of the value.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "instance/snapshot.h"
#include "store/access_rows.h"
#include "store/rows.h"
#include "store/schedule_rows.h"
#include "store/unit.h"

namespace cairn {

// What a commit made possible. It only tells where to look; the store has the data.
struct Wakeup {
  bool messages = false;
  bool runs = false;
  bool outbox = false;
  bool definitions = false;       // another node deployed or retired one
  std::optional<Timestamp> due;   // the earliest instant that is due later than now
  std::vector<InstanceId> ended;  // instances that reached a final status
};
using WakeupListener = std::function<void(const Wakeup&)>;

enum class PutDefinition { added, same, conflict };  // conflict: this name and version exists with another digest

struct SignalOutcome {
  bool duplicate = false;
  bool kept = false;                  // no instance waits: kept for its time to live
  std::vector<InstanceId> delivered;  // the instances that get a message
};

struct KeyAnswer {
  std::string request_hash;
  Json answer;
};

// Leases runs that are pending, or whose lease has expired and that still have an attempt.
struct LeaseRequest {
  std::string worker;                 // with a random part per process
  std::vector<std::string> prefixes;  // if both lists are empty: "default."
  std::vector<std::string> types;     // exact types, in addition
  std::size_t max = 1;
  Duration length;
};

// A change that the holder of a lease makes. Every kind except `cancel` and `remove` must match the fence.
struct RunChange {
  enum class Kind { heartbeat, retry, release, cancel, remove };
  Kind kind = Kind::heartbeat;
  RunId run;
  std::uint64_t fence = 0;
  Duration length;  // heartbeat: the new length of the lease from now; retry: the delay
  Json error;       // retry: the failure
  std::string actor;
  std::string reason;        // remove
  std::string account = {};  // heartbeat, release: must hold the lease (store/lease_holder.h); empty: not checked
};
struct RunChanged {
  enum class Kind {
    done,
    not_found,
    lease_lost,
    finished,
    exhausted,   // no attempt left to retry
    awaited,     // not removed, because its instance waits for its end
    not_holder,  // the fence matches, but another account holds the lease
  };
  Kind kind = Kind::done;
  RunRow row;  // the current row, unless not_found
};

struct TaskChange {
  enum class Kind { assign, release, reassign, comment };
  Kind kind = Kind::assign;
  TaskId task;
  std::optional<std::uint64_t> version;  // the version of the row that the caller has seen, if any
  std::string actor;
  std::string assignee;  // assign, reassign
  std::string comment;
  std::string trace = {};  // the traceparent that the instance carries, for the event
};
struct TaskChanged {
  enum class Kind { done, not_found, stale, closed, taken };  // taken: already assigned to another user
  Kind kind = Kind::done;
  TaskRow row;
};

struct HostLock {
  std::string name;
  std::string owner;
  std::uint64_t fence = 0;
  Timestamp until;
};

struct RetentionRequest {
  std::vector<Status> statuses;  // final ones only; others are ignored
  Timestamp ended_before;
  std::size_t max = 100;  // root instances per batch
};
struct RetentionOutcome {
  std::size_t instances = 0;
  bool more = false;
};

// Removes rows that belong to no instance and are older than their time, in one batch. Absent: keep them.
struct RowRetention {
  std::optional<Timestamp> runs_before;    // finished runs without an instance, with their events
  std::optional<Timestamp> outbox_before;  // published events, with their deliveries
  std::optional<Timestamp> keys_before;    // idempotency keys
  std::size_t max = 1000;                  // rows of each kind
};
struct RowRetentionOutcome {
  std::size_t runs = 0;
  std::size_t outbox = 0;
  std::size_t keys = 0;
  bool more = false;
};

struct OutboxClaim {
  std::string sink;
  std::size_t max = 256;
  Duration hold;
};

// How many of the claimed events may be retries.
inline std::size_t outbox_retries_max(const OutboxClaim& claim) { return std::max<std::size_t>(1, claim.max / 4); }

struct OutboxFilter {
  std::int64_t after = 0;  // only events with a greater sequence
  std::string type_prefix;
  std::string subject;
  std::optional<InstanceId> instance;
  bool unpublished = false;  // only these
};

// The life-cycle events that commits write to the outbox, in addition to `emit` steps (store/lifecycle.h).
struct EventPolicy {
  bool instances = false;
  bool tasks = false;
  bool runs = false;
  bool dispatched = true;  // false: no sink wants them, so they are written as published
  bool any() const { return instances || tasks || runs; }
  bool operator==(const EventPolicy&) const = default;
};

// Counts that an operator should watch, each counted up to a bound, and the oldest instants.
struct StoreFigures {
  std::size_t suspended = 0;  // instances
  std::size_t failed = 0;     // instances
  std::size_t tasks_open = 0;
  std::size_t runs_ready = 0;  // pending and due
  std::size_t runs_leased = 0;
  std::size_t messages = 0;  // not delivered yet
  std::size_t events_unpublished = 0;
  std::size_t dead_letters = 0;
  // The oldest of each; empty if there is none.
  std::optional<Timestamp> run_ready_since;
  std::optional<Timestamp> message_since;
  std::optional<Timestamp> event_since;
  std::optional<Timestamp> timer_due_since;
  bool operator==(const StoreFigures&) const = default;
};

// A run whose queue entry does not match its status.
struct QueueFault {
  enum class Kind {
    not_queued,   // pending, but no worker could lease it
    not_watched,  // leased, but the end of its lease would go unnoticed
    stray,        // queued as pending, but it is not pending or it is deleted
  };
  RunId run;
  Kind kind = Kind::not_queued;
  bool operator==(const QueueFault&) const = default;
};

// A part of the store that cannot be read.
struct StoreFault {
  std::string place;    // page 12, log frame 3
  std::string subject;  // what is lost with it, as far as known: table, rows, ids
  std::string message;
  bool operator==(const StoreFault&) const = default;
};

enum class PutSchedule { done, stale };  // stale: the row has another version than the given one

class Store {
 public:
  virtual ~Store() = default;

  // The only clock (rule E6), in whole milliseconds.
  virtual Timestamp now() = 0;
  virtual Result<int> schema_version() = 0;
  // Whether a commit can be written now. The error gives the reason: a full or read-only disk, a server in recovery, a
  // missing file, a newer schema. It costs a read, or a small write after a failed write.
  virtual Result<void> check_writable() {
    CAIRN_TRY_VOID(schema_version());
    return {};
  }
  // The listener is called after each commit that woke something, on the committing thread. It must neither block nor
  // call the store. Set it once, before the first commit.
  virtual void watch(WakeupListener listener) = 0;
  // How many threads can usefully call `commit` at the same time.
  virtual std::size_t writers() const { return 1; }
  // Frees caches. Called when nothing was committed for a while.
  virtual void release_caches() {}
  // Called when the node stops: the store no longer waits for an unreachable server. It still writes what it can.
  virtual void stop_waiting() {}
  // Set it once, before the first commit. Without it only `emit` writes events.
  virtual void keep_events(const EventPolicy& policy) { events_ = policy; }
  const EventPolicy& kept_events() const { return events_; }

  // Definitions. Name, version and digest never change.
  virtual Result<PutDefinition> put_definition(const DefinitionRow& row) = 0;
  // Without a version: the most recently deployed one that is not retired.
  virtual Result<std::optional<DefinitionRow>> find_definition(const std::string& name,
                                                               const std::optional<std::string>& version) = 0;
  virtual Result<Page<DefinitionRow>> list_definitions(const PageRequest& page) = 0;
  virtual Result<bool> retire_definition(const std::string& name, const std::string& version) = 0;

  // Instances. A row that cannot be decoded is ErrorCode::corrupt.
  virtual Result<std::optional<Snapshot>> find_snapshot(const InstanceId& id) = 0;
  // Writes the batch in one transaction and answers for each unit, in order. A stale or refused unit writes nothing and
  // does not affect the others. On an Error, nothing of the batch was written.
  virtual Result<std::vector<CommitOutcome>> commit(std::span<const Unit> units) = 0;
  // The same in two phases, for stores that gain by it (`commits_unsynced`). A power failure may lose the result of
  // `commit_unsynced` until `sync` has returned on any thread. No caller may learn of the result before that. The store
  // itself reveals nothing either: what it reads, claims or writes meanwhile is synced before it answers. The exception
  // is a read for a decision (store/unsynced_read.h), which is synced together with its commit. `more` is called for
  // further units of the same transaction until it has none. These units must stay in place until the function returns.
  // Their answers follow those of `units`.
  using MoreUnits = std::function<std::span<const Unit>()>;
  virtual bool commits_unsynced() const { return false; }
  virtual Result<std::vector<CommitOutcome>> commit_unsynced(std::span<const Unit> units, const MoreUnits&) {
    return commit(units);
  }
  virtual void sync() {}
  // Whether `encode_ahead` saves this store work.
  virtual bool keeps_encoded() const { return false; }
  virtual Result<std::optional<KeyAnswer>> find_key(const std::string& scope, const std::string& key) = 0;
  // Suspends an instance that the engine cannot process and stores a dead letter with it. The snapshot stays unchanged.
  // `message`, if given, is removed in the same transaction.
  virtual Result<void> park(const InstanceId& id, const Failure& why, const DeadLetter& letter,
                            std::optional<std::int64_t> message) = 0;
  // Hides a final instance. False if it does not exist or is not final.
  virtual Result<bool> mark_deleted(const InstanceId& id, const std::string& reason) = 0;

  // Delivers a signal by name and key to every waiting instance, or keeps it. If a wait and a signal commit
  // concurrently, the second one finds the first. ErrorCode::limit if the signal must be kept and too many are kept
  // already.
  virtual Result<SignalOutcome> record_signal(const CorrelatedSignal& signal) = 0;

  // Due work. A taken item is not handed out again until `hold` has passed or it is given back. Only the unit that it
  // causes removes it. After a crash it is available again at once. The order per instance is preserved: while a
  // message or timer of an instance is held, no later one of the same kind is handed out.
  virtual Result<std::vector<DueTimer>> take_timers(std::size_t max, Duration hold) = 0;
  virtual Result<std::vector<Message>> take_messages(std::size_t max, Duration hold) = 0;
  virtual void give_back(const DueTimer& timer) = 0;
  virtual void give_back_message(std::int64_t message) = 0;
  // The earliest instant after `looked_at` at which a timer, a run, the end of a lease, a schedule or a postponed event
  // is due. A caller that checked at `looked_at` misses nothing in between.
  virtual Result<std::optional<Timestamp>> next_due(Timestamp looked_at) = 0;
  Result<std::optional<Timestamp>> next_due() { return next_due(now()); }

  // Runs. A Unit ends them. Some stores have a faster way for runs without an instance (`ends_runs_directly`):
  // `end_runs` writes them in one transaction and answers like one unit for each.
  virtual bool ends_runs_directly() const { return false; }
  virtual Result<std::vector<CommitOutcome>> end_runs(std::span<const RunEnd>) {
    return Error{ErrorCode::internal, "this store ends runs in units"};
  }
  // Answers the row and whether it is new. A known idempotency key answers the first row. Reads id, type, payload,
  // priority, run_at, attempts_max, the retry policy and the key.
  virtual Result<std::pair<RunRow, bool>> submit_run(const RunRow& run) = 0;
  virtual Result<std::vector<RunRow>> lease_runs(const LeaseRequest& request) = 0;
  virtual Result<RunChanged> change_run(const RunChange& change) = 0;
  // Applies several heartbeats or releases and answers each separately. Stores that wait for a disk use one
  // transaction; this default applies them one by one.
  virtual std::vector<Result<RunChanged>> change_runs(std::span<const RunChange> changes) {
    std::vector<Result<RunChanged>> answers;
    for (const RunChange& change : changes) answers.push_back(change_run(change));
    return answers;
  }
  // Leased runs that cannot be leased again: their lease has expired and no attempt is left, or the current attempt has
  // exceeded its timeout, whatever its worker reports. The caller ends them by a Unit or retries them.
  virtual Result<std::vector<RunRow>> exhausted_runs(std::size_t max) = 0;
  virtual Result<std::optional<RunRow>> find_run(const RunId& id) = 0;
  virtual Result<Page<RunRow>> list_runs(const RunFilter& filter, const PageRequest& page) = 0;
  virtual Result<std::vector<RunEvent>> run_events(const RunId& id) = 0;

  // Submits all runs in one transaction. Each becomes the stored row, as `submit_run` answers it; true: it is new.
  // After an error they are unchanged.
  virtual Result<std::vector<bool>> submit_runs(std::span<RunRow> runs) = 0;
  // The rules for runs of a type, which leasing applies.
  virtual Result<void> put_run_type(const RunTypeRow& row) = 0;
  virtual Result<bool> remove_run_type(const std::string& type) = 0;
  virtual Result<std::vector<RunTypeRow>> list_run_types() = 0;

  // The outbox. Each sink has its own queue, which preserves the order of events of one subject. No sink waits for
  // another. `claim_outbox` first adds new events to the queues of all `sinks` that want them. Then it claims events
  // for one sink. It claims an event only if every earlier event of its subject in this queue is done or claimed by the
  // same call. At most a quarter of `max` are retries, so that failed events do not crowd out new ones. A claimed event
  // is not handed out again until `hold` has passed or its result is recorded.
  virtual Result<std::vector<OutboxRow>> claim_outbox(std::span<const SinkFilter> sinks, const OutboxClaim& claim) = 0;
  // The names of all sinks that have a queue, including sinks that are no longer configured.
  virtual Result<std::vector<std::string>> list_sink_queues() = 0;
  // Extends the claims of these events to `hold` from now.
  virtual Result<void> hold_outbox(const std::string& sink, std::span<const std::int64_t> sequences, Duration hold) = 0;
  // Ends claims and writes the delivery log in one transaction. An event is published when no queue holds it any more.
  // Answers how many events were published.
  virtual Result<std::size_t> record_sink_results(const std::string& sink, std::span<const SinkResult> events) = 0;
  // Ordered by sequence. Sequences grow, but a commit that started earlier may become visible later.
  virtual Result<Page<OutboxRow>> list_outbox(const OutboxFilter& filter, const PageRequest& page) = 0;
  virtual Result<std::vector<SinkDelivery>> list_deliveries(std::int64_t sequence) = 0;
  // Publishes the event again, to every sink. The delivery log gets an entry without a sink; deliveries before it no
  // longer count. False if the event does not exist.
  virtual Result<bool> resend_outbox(std::int64_t sequence) = 0;

  // Schedules. `put_schedule` writes the row if the stored row has version `row.version` (0: no row exists) and
  // increments the version. A schedule is due if it is not paused and `next_at` has come. A taken schedule is not
  // handed out again until `hold` has passed or its row has changed.
  virtual Result<PutSchedule> put_schedule(const ScheduleRow& row) = 0;
  virtual Result<std::optional<ScheduleRow>> find_schedule(const std::string& name) = 0;
  virtual Result<Page<ScheduleRow>> list_schedules(const PageRequest& page) = 0;
  virtual Result<bool> remove_schedule(const std::string& name) = 0;
  virtual Result<std::vector<ScheduleRow>> take_schedules(std::size_t max, Duration hold) = 0;

  // Credentials and the audit trail.
  virtual Result<void> put_api_key(const ApiKeyRow& row) = 0;
  virtual Result<std::optional<ApiKeyRow>> find_api_key(const std::string& secret_hash) = 0;
  virtual Result<std::vector<ApiKeyRow>> list_api_keys() = 0;
  virtual Result<bool> revoke_api_key(const std::string& id) = 0;
  // Appends the rows to the chain, in order, in one transaction.
  virtual Result<void> append_audit(std::span<const AuditRow> rows) = 0;
  virtual Result<Page<AuditRow>> list_audit(const PageRequest& page) = 0;  // oldest first

  // Tasks. They open and close with their instance, in a Unit.
  virtual Result<TaskChanged> change_task(const TaskChange& change) = 0;
  virtual Result<std::optional<TaskRow>> find_task(const TaskId& id) = 0;
  virtual Result<Page<TaskRow>> list_tasks(const TaskFilter& filter, const PageRequest& page) = 0;
  virtual Result<std::vector<TaskEvent>> task_events(const TaskId& id) = 0;

  // Queries for people.
  virtual Result<std::optional<InstanceRow>> find_instance(const InstanceId& id) = 0;
  virtual Result<Page<InstanceRow>> list_instances(const InstanceFilter& filter, const PageRequest& page) = 0;
  virtual Result<Page<HistoryRow>> history(const InstanceId& id, const PageRequest& page) = 0;
  virtual Result<std::vector<Wait>> list_waits(const InstanceId& id) = 0;
  virtual Result<std::vector<DueTimer>> list_timers(const InstanceId& id) = 0;
  virtual Result<std::vector<Message>> list_messages(const InstanceId& id) = 0;

  // For monitoring. Counting stops at `most`, so the call stays cheap.
  virtual Result<StoreFigures> figures(std::size_t most) = 0;
  // The first `max` faults in a run queue that is separate from the runs. The answer is correct under concurrent
  // writes. A store whose runs are the queue has no such faults.
  virtual Result<std::vector<QueueFault>> queue_faults(std::size_t) { return std::vector<QueueFault>(); }

  // The first `max` damages below the rows, caused by the disk or another program. The check continues after each
  // fault.
  virtual Result<std::vector<StoreFault>> faults(std::size_t) { return std::vector<StoreFault>(); }

  // Dead letters. Replaying moves the envelope back to its queue in one transaction. False if the letter does not
  // exist; ErrorCode::unsupported if its kind cannot be replayed.
  virtual Result<std::int64_t> put_dead_letter(const DeadLetter& letter) = 0;
  virtual Result<Page<DeadLetter>> list_dead_letters(const PageRequest& page) = 0;
  virtual Result<bool> replay_dead_letter(std::int64_t id) = 0;
  virtual Result<bool> discard_dead_letter(std::int64_t id) = 0;

  // A lock with at most one owner at a time. Empty while another owner holds it. The holder extends it with the same
  // call.
  virtual Result<std::optional<HostLock>> hold_lock(const std::string& name, const std::string& owner,
                                                    Duration length) = 0;
  virtual Result<void> drop_lock(const HostLock& lock) = 0;

  // Removes whole trees of instances that ended long ago. It never touches active work and keeps idempotency keys.
  virtual Result<RetentionOutcome> retire_instances(const RetentionRequest& request) = 0;
  virtual Result<RowRetentionOutcome> retire_rows(const RowRetention& request) = 0;

 protected:
  EventPolicy events_;
};

}  // namespace cairn
