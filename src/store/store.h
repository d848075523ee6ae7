// Everything at rest. Each verb is a whole decision and one transaction; what it answers has been
// made durable. Safe to call from several threads; a verb may block on the disk.
//
// Errors: unavailable (cannot write now: disk full, file locked; nothing was changed), corrupt (a
// row does not add up), internal. Everything that can ordinarily happen is part of the value.
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

// What a commit made possible. It only says where to look; what there is stands in the store.
struct Wakeup {
  bool messages = false;
  bool runs = false;
  bool outbox = false;
  bool definitions = false;       // another node deployed or retired one
  std::optional<Timestamp> due;   // the earliest instant that became due later than now
  std::vector<InstanceId> ended;  // instances that reached a final status
};
using WakeupListener = std::function<void(const Wakeup&)>;

enum class PutDefinition { added, same, conflict };  // conflict: that name and version has another digest

struct SignalOutcome {
  bool duplicate = false;
  bool kept = false;                  // nobody waits: kept for its time to live
  std::vector<InstanceId> delivered;  // a message is on its way to each
};

struct KeyAnswer {
  std::string request_hash;
  Json answer;
};

// How to lease runs: pending ones, and leased ones whose lease has ended, that still may be leased.
struct LeaseRequest {
  std::string worker;                 // with a random part per process
  std::vector<std::string> prefixes;  // none, and no types either: "default."
  std::vector<std::string> types;     // exactly these, as well
  std::size_t max = 1;
  Duration length;
};

// A change that the holder of a lease makes. All but `cancel` and `remove` must match the fence.
struct RunChange {
  enum class Kind { heartbeat, retry, release, cancel, remove };
  Kind kind = Kind::heartbeat;
  RunId run;
  std::uint64_t fence = 0;
  Duration length;  // heartbeat: the lease's new length from now; retry: the delay
  Json error;       // retry: what went wrong
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
    awaited,     // not removed: its instance waits for its end
    not_holder,  // the fence is right, and the lease is another account's
  };
  Kind kind = Kind::done;
  RunRow row;  // as it is now, unless not_found
};

struct TaskChange {
  enum class Kind { assign, release, reassign, comment };
  Kind kind = Kind::assign;
  TaskId task;
  std::optional<std::uint64_t> version;  // of the row, when the caller has seen it
  std::string actor;
  std::string assignee;  // assign, reassign
  std::string comment;
  std::string trace = {};  // the traceparent that the instance carries; for the event about it
};
struct TaskChanged {
  enum class Kind { done, not_found, stale, closed, taken };  // taken: assigned to somebody else already
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
  std::size_t max = 100;  // roots a batch
};
struct RetentionOutcome {
  std::size_t instances = 0;
  bool more = false;
};

// Rows that belong to no instance: each kind older than its time, in one batch. Absent: keep them.
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

// How many of the claimed events may have failed before.
inline std::size_t outbox_retries_max(const OutboxClaim& claim) { return std::max<std::size_t>(1, claim.max / 4); }

struct OutboxFilter {
  std::int64_t after = 0;  // only events with a greater sequence
  std::string type_prefix;
  std::string subject;
  std::optional<InstanceId> instance;
  bool unpublished = false;  // only these
};

// Which life-cycle events commits write to the outbox, besides what `emit` asks for (store/lifecycle.h).
struct EventPolicy {
  bool instances = false;
  bool tasks = false;
  bool runs = false;
  bool dispatched = true;  // false: nobody publishes them, they are written as published
  bool any() const { return instances || tasks || runs; }
  bool operator==(const EventPolicy&) const = default;
};

// How much there is of what somebody should know about, each counted up to a bound, and since when.
struct StoreFigures {
  std::size_t suspended = 0;  // instances
  std::size_t failed = 0;     // instances
  std::size_t tasks_open = 0;
  std::size_t runs_ready = 0;  // pending, and their time has come
  std::size_t runs_leased = 0;
  std::size_t messages = 0;  // on their way to an instance
  std::size_t events_unpublished = 0;
  std::size_t dead_letters = 0;
  // The oldest of each; nothing when there is none.
  std::optional<Timestamp> run_ready_since;
  std::optional<Timestamp> message_since;
  std::optional<Timestamp> event_since;
  std::optional<Timestamp> timer_due_since;
  bool operator==(const StoreFigures&) const = default;
};

// A run that the queue does not have as its status asks for.
struct QueueFault {
  enum class Kind {
    not_queued,   // pending, and nobody would lease it
    not_watched,  // leased, and nobody would notice that its lease has ended
    stray,        // in the queue as if it were pending, and is not or is deleted
  };
  RunId run;
  Kind kind = Kind::not_queued;
  bool operator==(const QueueFault&) const = default;
};

// Something in the store that cannot be read.
struct StoreFault {
  std::string place;    // page 12, log frame 3
  std::string subject;  // what is lost with it, as far as it can be told: table, rows, ids
  std::string message;
  bool operator==(const StoreFault&) const = default;
};

enum class PutSchedule { done, stale };  // stale: the row is not at the version that was given

class Store {
 public:
  virtual ~Store() = default;

  // The one clock (DESIGN D10), in whole milliseconds.
  virtual Timestamp now() = 0;
  virtual Result<int> schema_version() = 0;
  // Whether a commit can be written now; the error says why not: a full or read-only disk, a server in recovery, a file
  // that is gone, a newer schema. Costs a read, or after a failed write a small write.
  virtual Result<void> check_writable() {
    CAIRN_TRY_VOID(schema_version());
    return {};
  }
  // Called after each commit that woke something, from the committing thread. It must neither block
  // nor call the store. Set once, before the first commit.
  virtual void watch(WakeupListener listener) = 0;
  // How many threads may usefully call `commit` at the same time.
  virtual std::size_t writers() const { return 1; }
  // Nothing was committed for a while: what is only kept for speed may go.
  virtual void release_caches() {}
  // The node stops: a server that is away is not waited for any more. Whatever can be written still is.
  virtual void stop_waiting() {}
  // Set once, before the first commit; without it only `emit` writes events.
  virtual void keep_events(const EventPolicy& policy) { events_ = policy; }
  const EventPolicy& kept_events() const { return events_; }

  // Definitions: name, version and digest never change.
  virtual Result<PutDefinition> put_definition(const DefinitionRow& row) = 0;
  // Without a version: the newest deployed that is not retired.
  virtual Result<std::optional<DefinitionRow>> find_definition(const std::string& name,
                                                               const std::optional<std::string>& version) = 0;
  virtual Result<Page<DefinitionRow>> list_definitions(const PageRequest& page) = 0;
  virtual Result<bool> retire_definition(const std::string& name, const std::string& version) = 0;

  // Instances. A row that does not decode is ErrorCode::corrupt.
  virtual Result<std::optional<Snapshot>> find_snapshot(const InstanceId& id) = 0;
  // One transaction for the batch; an answer for each unit, in order. A stale or refused unit writes
  // nothing and does not spoil the rest. An Error: nothing of the batch was written.
  virtual Result<std::vector<CommitOutcome>> commit(std::span<const Unit> units) = 0;
  // The same in two parts, where a store gains by it (`commits_unsynced`): what `commit_unsynced` gives may be lost in a
  // power failure until `sync` has returned, from whatever thread, and nobody is told of it before. The store itself
  // tells nobody either: what is read, claimed or written meanwhile is settled too, except what is only read for a
  // decision (store/unsynced_read.h), which is settled with its commit. `more` is asked for further units of the same
  // transaction until it has none; they stay where they are until this returns, and have their answers behind the
  // others.
  using MoreUnits = std::function<std::span<const Unit>()>;
  virtual bool commits_unsynced() const { return false; }
  virtual Result<std::vector<CommitOutcome>> commit_unsynced(std::span<const Unit> units, const MoreUnits&) {
    return commit(units);
  }
  virtual void sync() {}
  // Whether `encode_ahead` saves it work.
  virtual bool keeps_encoded() const { return false; }
  virtual Result<std::optional<KeyAnswer>> find_key(const std::string& scope, const std::string& key) = 0;
  // Takes an instance that cannot be decided about out of the way: `suspended` for people, its
  // snapshot untouched, the dead letter beside it. `message`, when given, is removed with it.
  virtual Result<void> park(const InstanceId& id, const Failure& why, const DeadLetter& letter,
                            std::optional<std::int64_t> message) = 0;
  // Hides a final instance. False: it does not exist or is not final.
  virtual Result<bool> mark_deleted(const InstanceId& id, const std::string& reason) = 0;

  // Signals by name and key: to every instance that waits for them, else kept. Whichever of wait
  // and signal commits second finds the other. ErrorCode::limit when it would have to be kept and too many are.
  virtual Result<SignalOutcome> record_signal(const CorrelatedSignal& signal) = 0;

  // Due work. What is taken is not given out again before `hold` has passed, unless given back; it
  // goes for good only with the unit that it caused. A crash gives it back at once. Order is kept for each instance:
  // while a message or timer of it is held, no later one of the same kind is given out.
  virtual Result<std::vector<DueTimer>> take_timers(std::size_t max, Duration hold) = 0;
  virtual Result<std::vector<Message>> take_messages(std::size_t max, Duration hold) = 0;
  virtual void give_back(const DueTimer& timer) = 0;
  virtual void give_back_message(std::int64_t message) = 0;
  // The earliest instant at which a timer, a run, a lease's end, a schedule or a postponed event wants attention, of
  // those that were not due yet at `looked_at`. Whoever looked at that time and asks now misses nothing in between.
  virtual Result<std::optional<Timestamp>> next_due(Timestamp looked_at) = 0;
  Result<std::optional<Timestamp>> next_due() { return next_due(now()); }

  // Runs. Their ends are part of a Unit, or, where a store has a shorter way (`ends_runs_directly`) for those that no
  // instance waits for, written by `end_runs`: in one transaction, answered as a unit for each would be.
  virtual bool ends_runs_directly() const { return false; }
  virtual Result<std::vector<CommitOutcome>> end_runs(std::span<const RunEnd>) {
    return Error{ErrorCode::internal, "this store ends runs in units"};
  }
  // The row, and whether it is new: with a known idempotency key it is the first one's row. Reads
  // id, type, payload, priority, run_at, attempts_max, the retry policy and the key.
  virtual Result<std::pair<RunRow, bool>> submit_run(const RunRow& run) = 0;
  virtual Result<std::vector<RunRow>> lease_runs(const LeaseRequest& request) = 0;
  virtual Result<RunChanged> change_run(const RunChange& change) = 0;
  // Several heartbeats or releases, each answered on its own. A store that has to wait for a disk makes them in one
  // transaction; this one makes them one after the other.
  virtual std::vector<Result<RunChanged>> change_runs(std::span<const RunChange> changes) {
    std::vector<Result<RunChanged>> answers;
    for (const RunChange& change : changes) answers.push_back(change_run(change));
    return answers;
  }
  // Leased runs that nobody may lease again as they are: their lease has ended and no attempt is left, or
  // the attempt under way has lasted longer than its timeout, whatever its worker says. To be ended by a
  // Unit, or retried.
  virtual Result<std::vector<RunRow>> exhausted_runs(std::size_t max) = 0;
  virtual Result<std::optional<RunRow>> find_run(const RunId& id) = 0;
  virtual Result<Page<RunRow>> list_runs(const RunFilter& filter, const PageRequest& page) = 0;
  virtual Result<std::vector<RunEvent>> run_events(const RunId& id) = 0;

  // All of them in one transaction. Each becomes what stands in the store, as `submit_run` answers it; true: it is new.
  // After an error they are as they were.
  virtual Result<std::vector<bool>> submit_runs(std::span<RunRow> runs) = 0;
  // How runs of a type are treated; leasing keeps to it.
  virtual Result<void> put_run_type(const RunTypeRow& row) = 0;
  virtual Result<bool> remove_run_type(const std::string& type) = 0;
  virtual Result<std::vector<RunTypeRow>> list_run_types() = 0;

  // The outbox. Each sink has a queue of its own, in which events of one subject keep their order; no sink waits for
  // another one. `claim_outbox` first gives new events to the queues of all `sinks` that want them. Then it claims for
  // one sink: an event only when every earlier one of its subject in this queue is settled or claimed by the same call,
  // and at most a quarter of `max` events that failed before, so that these do not crowd out new ones. What is claimed
  // is not given out again before `hold` has passed, or it is settled.
  virtual Result<std::vector<OutboxRow>> claim_outbox(std::span<const SinkFilter> sinks, const OutboxClaim& claim) = 0;
  // The names of all sinks that have a queue, also of those that no settings name any more.
  virtual Result<std::vector<std::string>> list_sink_queues() = 0;
  // Claimed events stay claimed for so long from now.
  virtual Result<void> hold_outbox(const std::string& sink, std::span<const std::int64_t> sequences, Duration hold) = 0;
  // Ends claims and writes the log of deliveries, in one transaction. An event is published when no queue has it any
  // more. How many were published.
  virtual Result<std::size_t> record_sink_results(const std::string& sink, std::span<const SinkResult> events) = 0;
  // In order of sequence. Sequences grow, but a commit that began earlier may appear later.
  virtual Result<Page<OutboxRow>> list_outbox(const OutboxFilter& filter, const PageRequest& page) = 0;
  virtual Result<std::vector<SinkDelivery>> list_deliveries(std::int64_t sequence) = 0;
  // To be published once more, to every sink: the delivery log gets an entry without a sink, and what was
  // delivered before it no longer counts. False: there is no such event.
  virtual Result<bool> resend_outbox(std::int64_t sequence) = 0;

  // Schedules. `put_schedule` writes the row when the stored one is at `row.version` (0: there is none)
  // and makes it one more. A schedule is due when it is not paused and its `next_at` has come; what is
  // taken is not given out again before `hold` has passed or its row has changed.
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
  // Appends to the chain, in order, in one transaction.
  virtual Result<void> append_audit(std::span<const AuditRow> rows) = 0;
  virtual Result<Page<AuditRow>> list_audit(const PageRequest& page) = 0;  // oldest first

  // Tasks. They open and close with their instance, in a Unit.
  virtual Result<TaskChanged> change_task(const TaskChange& change) = 0;
  virtual Result<std::optional<TaskRow>> find_task(const TaskId& id) = 0;
  virtual Result<Page<TaskRow>> list_tasks(const TaskFilter& filter, const PageRequest& page) = 0;
  virtual Result<std::vector<TaskEvent>> task_events(const TaskId& id) = 0;

  // For people.
  virtual Result<std::optional<InstanceRow>> find_instance(const InstanceId& id) = 0;
  virtual Result<Page<InstanceRow>> list_instances(const InstanceFilter& filter, const PageRequest& page) = 0;
  virtual Result<Page<HistoryRow>> history(const InstanceId& id, const PageRequest& page) = 0;
  virtual Result<std::vector<Wait>> list_waits(const InstanceId& id) = 0;
  virtual Result<std::vector<DueTimer>> list_timers(const InstanceId& id) = 0;
  virtual Result<std::vector<Message>> list_messages(const InstanceId& id) = 0;

  // For those who watch; nothing is counted further than `most`, so that asking stays cheap.
  virtual Result<StoreFigures> figures(std::size_t most) = 0;
  // For a store whose queue of runs stands beside them: what is wrong with it, the first `max`. Right also while
  // others write. Where the runs themselves are the queue there is nothing to find.
  virtual Result<std::vector<QueueFault>> queue_faults(std::size_t) { return std::vector<QueueFault>(); }

  // What the disk or another program has damaged below the rows, the first `max`. Goes on after each.
  virtual Result<std::vector<StoreFault>> faults(std::size_t) { return std::vector<StoreFault>(); }

  // Dead letters. Replaying moves the envelope back to its queue in one transaction; nothing when
  // there is no such letter, ErrorCode::unsupported when its kind cannot be replayed.
  virtual Result<std::int64_t> put_dead_letter(const DeadLetter& letter) = 0;
  virtual Result<Page<DeadLetter>> list_dead_letters(const PageRequest& page) = 0;
  virtual Result<bool> replay_dead_letter(std::int64_t id) = 0;
  virtual Result<bool> discard_dead_letter(std::int64_t id) = 0;

  // At most one owner at a time; nothing while another holds it. The holder extends it the same way.
  virtual Result<std::optional<HostLock>> hold_lock(const std::string& name, const std::string& owner,
                                                    Duration length) = 0;
  virtual Result<void> drop_lock(const HostLock& lock) = 0;

  // Removes whole trees of instances that ended long ago. Never touches live work; idempotency keys
  // stay.
  virtual Result<RetentionOutcome> retire_instances(const RetentionRequest& request) = 0;
  virtual Result<RowRetentionOutcome> retire_rows(const RowRetention& request) = 0;

 protected:
  EventPolicy events_;
};

}  // namespace cairn
