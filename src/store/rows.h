// The rows that people and programs read: projections, queues and runs as plain values. Times are whole milliseconds,
// because every back end stores those.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "instance/advance.h"
#include "instance/snapshot.h"
#include "store/outbox_rows.h"

namespace cairn {

// A page of a list. `next_cursor` is empty on the last one.
template <class T>
struct Page {
  std::vector<T> items;
  std::string next_cursor;
  std::vector<std::string> unreadable;  // rows left out because they are inconsistent, each described in words
};

struct PageRequest {
  std::size_t limit = 100;
  std::string cursor;  // opaque, from the previous page
};

// Every row of a list, page by page. `fetch` reads one page.
template <class T, class Fetch>
Result<std::vector<T>> all_pages(const Fetch& fetch) {
  constexpr std::size_t page_rows = 1'000;
  std::vector<T> all;
  PageRequest request{page_rows, ""};
  do {
    CAIRN_TRY(Page<T> page, fetch(request));
    all.insert(all.end(), std::make_move_iterator(page.items.begin()), std::make_move_iterator(page.items.end()));
    request.cursor = std::move(page.next_cursor);
  } while (!request.cursor.empty());
  return all;
}

struct DefinitionRow {
  std::string name;
  std::string version;
  std::string digest;
  Json canonical;
  Timestamp deployed_at;
  std::optional<Timestamp> retired_at;  // no new starts
  bool operator==(const DefinitionRow&) const = default;
};

struct InstanceRow {
  InstanceId id;
  ProgramKey program;
  Status status = Status::running;
  std::uint64_t state_version = 0;
  Reference reference;
  std::optional<InstanceId> parent;
  std::optional<Failure> error;
  Timestamp started_at;
  Timestamp changed_at;
  std::optional<Timestamp> ended_at;
  std::optional<Timestamp> deleted_at;
  std::string delete_reason;
  bool operator==(const InstanceRow&) const = default;
};

struct InstanceFilter {
  std::optional<Status> status;
  std::string definition;
  std::string version;  // of the definition
  std::string reference_key;
  std::vector<std::pair<std::string, std::string>> reference_parts;  // all must match
  std::string text;  // anywhere in the id, the definition's name, the reference's key or parts; case-insensitive
  std::optional<InstanceId> parent;
  std::optional<Timestamp> started_from;  // inclusive
  std::optional<Timestamp> started_to;    // exclusive
  bool deleted = false;                   // include deleted ones
  bool retrying = false;                  // neither suspended nor ended, and one of its runs `is_retrying`
  std::string step = {};                  // of the retrying run, or of the failure
  std::string fingerprint = {};           // of the failure (error_fingerprint.h)
  // Values in the state, by dotted path. No store compares them: see api/instance_search.h.
  std::vector<std::pair<std::string, std::string>> data = {};
};

struct TaskRow {
  TaskId id;
  InstanceId instance;
  WaitToken token;
  std::string step;
  std::string name;
  std::string title;
  TaskStatus status = TaskStatus::open;
  std::uint64_t state_version = 1;  // incremented by each change of the row
  std::vector<std::string> roles;
  std::vector<std::string> exclude;
  std::vector<std::string> managers = {};  // roles that may also take it from its assignee
  Json payload;
  Json form;
  std::int64_t priority = 0;
  std::optional<Timestamp> due;
  std::optional<Timestamp> deadline;
  std::string assignee;
  Reference reference;
  Timestamp created_at;
  Timestamp changed_at;
  std::string completed_by;
  std::optional<Timestamp> completed_at;
  Json completion;
  bool operator==(const TaskRow&) const = default;
};

// Open and assigned tasks by default, unless `status` is set. Ordered by priority, then oldest first.
struct TaskFilter {
  std::optional<TaskStatus> status;
  bool closed = false;  // include closed ones
  std::string assignee;
  std::vector<std::string> roles;  // a task that has one of these roles, or no roles
  std::optional<InstanceId> instance;
  std::string name;
  std::string reference_key;
  std::string text;                     // anywhere in name, title, reference key or instance; case-insensitive
  std::optional<Timestamp> due_before;  // its due time or deadline is earlier
  // Only tasks that a user with these roles has a right to. Absent: all tasks.
  std::optional<std::vector<std::string>> viewer_roles = {};
};

struct TaskEvent {
  enum class Kind { created, assigned, released, reassigned, completed, cancelled, expired, commented };
  TaskId task;
  Kind kind = Kind::created;
  Timestamp at;
  std::string actor;
  Json details;  // assignee, comment; null if there are none
  bool operator==(const TaskEvent&) const = default;
};
const char* to_string(TaskEvent::Kind kind);

struct HistoryRow {
  std::int64_t sequence = 0;
  std::uint64_t state_version = 0;  // of the instance, after the commit that wrote this
  LogEntry entry;
  bool operator==(const HistoryRow&) const = default;
};

enum class RunStatus { pending, leased, succeeded, failed, cancelled };
const char* to_string(RunStatus status);
std::optional<RunStatus> run_status_from(std::string_view text);
inline bool is_final(RunStatus status) {
  return status == RunStatus::succeeded || status == RunStatus::failed || status == RunStatus::cancelled;
}

struct RunRow {
  RunId id;
  std::string type;
  RunStatus status = RunStatus::pending;
  std::int64_t priority = 0;
  std::string idempotency_key;  // empty: none
  Json payload;
  Json result;
  Json error;
  std::string last_error;
  int attempt = 0;  // the number of the current or last attempt; counted when leased
  int attempts_max = 3;
  int leases = 0;  // number of leases, including released ones
  std::uint64_t fence = 0;
  Timestamp run_at;
  std::optional<Timestamp> lease_until;
  std::string leased_by;
  Duration backoff;
  double factor = 2;
  Duration cap;
  double jitter = 0.5;
  std::optional<Duration> timeout;
  std::optional<InstanceId> instance;  // the instance that its end wakes
  WaitToken token;
  std::string step;
  std::string limit_key;  // the key that the limits of its type count by; empty: the type alone
  Timestamp created_at;
  Timestamp updated_at;
  std::optional<Timestamp> deleted_at;
  std::string delete_reason;
  std::string created_by;  // the actor of the event `created`; no store reads it back
  bool operator==(const RunRow&) const = default;
};

// Whether an instance waits for the end of this run. If the run were removed, the end would never come.
inline bool is_awaited(const RunRow& run) { return run.instance && !is_final(run.status); }

// Whether an instance waits for a run that has failed and is retried.
inline bool is_retrying(const RunRow& run) {
  if (!run.instance || run.deleted_at) return false;
  return (run.status == RunStatus::pending && run.attempt > 0) || (run.status == RunStatus::leased && run.attempt > 1);
}

// Settings for the runs of one type. Absent values keep what the run or the request specifies.
struct RunTypeRow {
  std::string type;
  std::optional<Duration> lease;
  std::optional<int> attempts_max;
  std::optional<Duration> backoff;
  std::optional<Duration> cap;
  bool paused = false;             // not leased until it is resumed
  std::optional<int> concurrency;  // concurrent leases, for each limit key
  std::optional<int> rate;         // leases within `rate_window`, for each limit key
  Duration rate_window = Duration::of_seconds(1);
  std::string limit_key;  // an expression over `payload`, evaluated when a run is created; empty: none
  bool operator==(const RunTypeRow&) const = default;
};

struct RunFilter {
  std::optional<RunStatus> status;
  std::string type_prefix;
  std::optional<InstanceId> instance;
  bool deleted = false;
  bool retrying = false;  // only runs that `is_retrying` accepts
};

struct RunEvent {
  RunId run;
  std::string kind;  // created, leased, heartbeat is not kept, retried, released, succeeded, failed, cancelled, deleted
  Timestamp at;
  int attempt = 0;
  std::string actor;
  Json details;
  bool operator==(const RunEvent&) const = default;
};

// The result of a delivery to a sink.
struct SinkResult {
  enum class Kind { taken, failed, given_up, not_tried };  // given_up: failed and not to be retried
  std::int64_t sequence = 0;
  Kind kind = Kind::not_tried;
  int attempt = 0;
  Timestamp at;
  std::string error = {};
  Duration delay = {};  // failed: the delay before the next attempt
};

// One attempt to deliver an outbox event to one sink.
struct SinkDelivery {
  std::int64_t sequence = 0;  // of the event
  std::string sink;
  int attempt = 1;
  Timestamp at;
  bool delivered = false;
  std::string error;
  bool operator==(const SinkDelivery&) const = default;
};

// A durable message to one instance.
struct Message {
  enum class Kind { signal, child_finished, cancel, run_finished };  // run_finished: written by a program that uses SQL
  std::int64_t id = 0;                                               // set by the store
  InstanceId target;
  Kind kind = Kind::signal;
  Json body;  // see engine/message_body.h
  Timestamp at;
  bool operator==(const Message&) const = default;
};
const char* to_string(Message::Kind kind);
std::optional<Message::Kind> message_kind_from(std::string_view text);

// A signal by name and key that is not addressed to one instance.
struct CorrelatedSignal {
  std::string id;  // never empty
  std::string name;
  Json key;  // text or null
  Json payload;
  std::optional<Duration> ttl = {};  // how long it is kept if no instance waits for it; absent: for ever
  bool remember = false;             // the id came from outside, so a repeat must be detected
  // How many kept signals may already exist if this one must be kept too: with the same name and key, and in total. 0:
  // no limit.
  std::size_t kept_per_key_max = 0;
  std::size_t kept_total_max = 0;
};

// A signal that no instance waits for yet.
struct KeptSignal {
  std::int64_t number = 0;  // set by the store; names the kept signal
  std::string id;           // the sender's, or a new one
  std::string name;
  Json key;  // text or null
  Json payload;
  Timestamp at;
  std::optional<Timestamp> until;  // then it becomes a dead letter; absent: never
  bool operator==(const KeptSignal&) const = default;
};

struct SignalFilter {
  std::string name;                // empty: every name
  std::optional<std::string> key;  // absent: every key
};

// The error for a signal that must be kept although too many are kept already.
Error too_many_kept(const CorrelatedSignal& signal, bool of_this_key);

struct DueTimer {
  InstanceId instance;
  WaitToken token;
  Timestamp due;
  bool operator==(const DueTimer&) const = default;
};

struct DeadLetter {
  std::int64_t id = 0;  // set by the store
  std::optional<InstanceId> instance;
  std::string kind;  // the kind of the envelope: message, timer, run, start, signal
  Json envelope;     // complete: enough to replay
  std::string reason;
  std::string node;
  Timestamp at;
  bool operator==(const DeadLetter&) const = default;
};

}  // namespace cairn
