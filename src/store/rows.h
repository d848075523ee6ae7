// The rows that people and programs read: projections, queues and runs as plain values.
// Times are whole milliseconds: that is what every back end keeps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/json.h"
#include "base/time.h"
#include "instance/advance.h"
#include "instance/snapshot.h"

namespace cairn {

// A page of a list. `next_cursor` is empty on the last one.
template <class T>
struct Page {
  std::vector<T> items;
  std::string next_cursor;
  std::vector<std::string> unreadable;  // rows that were left out because they do not add up, each in words
};

struct PageRequest {
  std::size_t limit = 100;
  std::string cursor;  // opaque, from the page before
};

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
  std::uint64_t version = 0;
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
  std::vector<std::pair<std::string, std::string>> reference_parts;  // all of them must match
  std::string text;  // somewhere in the id, the definition's name, the reference's key or its parts, in any case
  std::optional<InstanceId> parent;
  std::optional<Timestamp> started_from;  // inclusive
  std::optional<Timestamp> started_to;    // exclusive
  bool deleted = false;                   // deleted ones too
};

struct TaskRow {
  TaskId id;
  InstanceId instance;
  WaitToken token;
  std::string step;
  std::string name;
  std::string title;
  TaskStatus status = TaskStatus::open;
  std::uint64_t version = 1;  // grows with each change of the row
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

// Open and assigned tasks unless `status` says otherwise; by priority, then oldest first.
struct TaskFilter {
  std::optional<TaskStatus> status;
  bool closed = false;  // closed ones too
  std::string assignee;
  std::vector<std::string> roles;  // a task that has one of these, or none at all
  std::optional<InstanceId> instance;
  std::string name;
  std::string reference_key;
  std::string text;                     // somewhere in name, title, reference key or instance, in any case
  std::optional<Timestamp> due_before;  // its due time or its deadline is earlier
  // Only tasks that this person has a right to: as assignee, by a role, as a manager, or because it has no roles.
  struct Viewer {
    std::string person;
    std::vector<std::string> roles;
  };
  std::optional<Viewer> viewer = {};
};

struct TaskEvent {
  enum class Kind { created, assigned, released, reassigned, completed, cancelled, expired, commented };
  TaskId task;
  Kind kind = Kind::created;
  Timestamp at;
  std::string actor;
  Json details;  // assignee, comment; null when there is nothing to say
  bool operator==(const TaskEvent&) const = default;
};
const char* to_string(TaskEvent::Kind kind);

struct HistoryRow {
  std::int64_t sequence = 0;
  std::uint64_t version = 0;  // of the instance, after the commit that wrote this
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
  int leases = 0;  // how often it was leased, given back ones too
  std::uint64_t fence = 0;
  Timestamp run_at;
  std::optional<Timestamp> lease_until;
  std::string leased_by;
  Duration backoff;
  double factor = 2;
  Duration cap;
  double jitter = 0.5;
  std::optional<Duration> timeout;
  std::optional<InstanceId> instance;  // whom its end wakes
  WaitToken token;
  std::string step;
  std::string limit_key;  // what the limits of its type count by; empty: the type alone
  Timestamp created_at;
  Timestamp updated_at;
  std::optional<Timestamp> deleted_at;
  std::string delete_reason;
  bool operator==(const RunRow&) const = default;
};

// An instance waits for its end. Removed before that, it would never come.
inline bool is_awaited(const RunRow& run) { return run.instance && !is_final(run.status); }

// How runs of one type are treated. Absent values leave what the run or the request says.
struct RunTypeRow {
  std::string type;
  std::optional<Duration> lease;
  std::optional<int> attempts_max;
  std::optional<Duration> backoff;
  std::optional<Duration> cap;
  bool paused = false;             // not leased until it is resumed
  std::optional<int> concurrency;  // leased at one time, for each limit key
  std::optional<int> rate;         // leases within `rate_window`, for each limit key
  Duration rate_window = Duration::of_seconds(1);
  std::string limit_key;  // an expression over `payload`, evaluated when a run is made; empty: none
  bool operator==(const RunTypeRow&) const = default;
};

struct RunFilter {
  std::optional<RunStatus> status;
  std::string type_prefix;
  std::optional<InstanceId> instance;
  bool deleted = false;
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

struct OutboxRow {
  std::int64_t sequence = 0;
  InstanceId instance;
  OutboxEvent event;
  Timestamp created_at;
  std::optional<Timestamp> published_at;
  int attempts = 0;  // of a claimed event: how often its sink was tried
  bool operator==(const OutboxRow&) const = default;
};

// Which events a sink wants.
struct SinkFilter {
  std::string name;
  std::vector<std::string> types = {};  // those whose type begins with one of these; all of them when there is none

  bool wants(std::string_view type) const {
    if (types.empty()) return true;
    for (const std::string& prefix : types) {
      if (type.starts_with(prefix)) return true;
    }
    return false;
  }
};

// What became of an event that was claimed for a sink.
struct SinkResult {
  enum class Kind { taken, failed, given_up, not_tried };  // given_up: failed, and not to be tried again
  std::int64_t sequence = 0;
  Kind kind = Kind::not_tried;
  int attempt = 0;
  Timestamp at;
  std::string error = {};
  Duration delay = {};  // failed: until the next attempt
};

// One attempt to hand an event of the outbox to one sink.
struct SinkDelivery {
  std::int64_t sequence = 0;  // of the event
  std::string sink;
  int attempt = 1;
  Timestamp at;
  bool delivered = false;
  std::string error;
  bool operator==(const SinkDelivery&) const = default;
};

// Something durable on its way to one instance.
struct Message {
  enum class Kind { signal, child_finished, cancel, run_finished };  // the last: by a program that speaks SQL
  std::int64_t id = 0;                                               // given by the store
  InstanceId target;
  Kind kind = Kind::signal;
  Json body;  // see engine/message_body.h
  Timestamp at;
  bool operator==(const Message&) const = default;
};
const char* to_string(Message::Kind kind);
std::optional<Message::Kind> message_kind_from(std::string_view text);

// A signal by name and key, not yet meant for any one instance.
struct CorrelatedSignal {
  std::string id;  // never empty
  std::string name;
  Json key;  // text or null
  Json payload;
  Duration ttl;           // how long it is kept when nobody waits for it
  bool remember = false;  // the id came from outside: a repeat must be told apart
  // How many signals may be kept already if this one is to be kept too: of the same name and key, and in all. 0: not
  // looked at.
  std::size_t kept_per_key_max = 0;
  std::size_t kept_total_max = 0;
};

// The refusal of a signal that would have to be kept, when so many are.
Error too_many_kept(const CorrelatedSignal& signal, bool of_this_key);

struct DueTimer {
  InstanceId instance;
  WaitToken token;
  Timestamp due;
  bool operator==(const DueTimer&) const = default;
};

struct DeadLetter {
  std::int64_t id = 0;  // given by the store
  std::optional<InstanceId> instance;
  std::string kind;  // what the envelope is: message, timer, run, start
  Json envelope;     // all of it: enough to replay
  std::string reason;
  std::string node;
  Timestamp at;
  bool operator==(const DeadLetter&) const = default;
};

}  // namespace cairn
