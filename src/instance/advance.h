// Everything that one event changes. The store writes all of it in one transaction, or none of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/json.h"
#include "base/time.h"
#include "instance/outbox_event.h"
#include "instance/snapshot.h"

namespace cairn {

enum class TaskStatus { open, assigned, completed, cancelled, expired };
const char* to_string(TaskStatus status);
std::optional<TaskStatus> task_status_from(std::string_view text);

// The row of a human task, for reading. The engine waits on the token and never reads this row.
struct TaskOpened {
  TaskId id;
  WaitToken token;
  std::string step;
  std::string name;
  std::string title;
  std::vector<std::string> roles;
  std::vector<std::string> exclude;
  std::vector<std::string> managers = {};  // roles that may also take the task from its assignee
  Json payload;
  Json form;  // JSON Schema or null
  std::int64_t priority = 0;
  std::optional<Timestamp> due;
  std::optional<Timestamp> deadline;
  std::string assignee;  // empty: not assigned yet
  Reference reference;
  bool operator==(const TaskOpened&) const = default;
};
struct TaskClosed {
  TaskId id;
  TaskStatus status = TaskStatus::completed;
  std::string by;
  Json payload;  // the payload of a completion
  bool operator==(const TaskClosed&) const = default;
};

// The intent of an external call. The store writes it as a row of workflow_run, leased to this node in the same commit.
struct RunIntent {
  RunId id;
  WaitToken token;
  std::string step;
  std::string type;             // cairn.http.v1, cairn.graphql.v1, or the worker's type
  std::string idempotency_key;  // derived from instance, step place, iteration and visit: the same for every attempt
  Json payload;
  int attempts_max = 3;
  Duration backoff;
  double factor = 2;
  Duration cap;
  double jitter = 0.5;
  std::optional<Duration> timeout;  // per attempt
  bool operator==(const RunIntent&) const = default;
};

// The start of a subworkflow or a continuation. A subworkflow has a `token`, and its end wakes this instance.
struct InstanceStart {
  InstanceId id;
  std::string name;
  std::optional<std::string> version;  // absent: the newest version
  Json input;
  std::optional<Reference> reference;
  std::optional<Reference> inherited;  // of a subworkflow: used if its definition has no reference
  std::optional<WaitToken> token;
  std::string step;
  bool operator==(const InstanceStart&) const = default;
};

struct LogEntry {
  enum class Kind { started, completed, faulted, suspended, resumed, skipped, cancelled, edited };
  Kind kind = Kind::started;  // of a step: it waits
  std::string step;           // empty: the entry is about the instance
  Timestamp at;
  std::string actor;
  int attempt = 1;
  Json details;
  // The visit of the step: the id of the task, run or child that it waits for, or the token of another wait. All
  // entries of a visit have the same. Of a step that failed without waiting it is the place. Empty: no such visit.
  std::string visit = {};
  bool operator==(const LogEntry&) const = default;
};
const char* to_string(LogEntry::Kind kind);
std::optional<LogEntry::Kind> log_kind_from(std::string_view text);

// The end of an instance whose parent waits for it.
struct ParentNotice {
  Parent parent;
  Json output;
  std::optional<Failure> failure;
  bool operator==(const ParentNotice&) const = default;
};

// The parts of the program that one advance ran through, by index. Filled only if the setting requests it.
struct Trace {
  std::vector<std::uint32_t> steps;   // started
  std::vector<std::uint32_t> blocks;  // entered
  bool operator==(const Trace&) const = default;
};

struct Advance {
  // stale: the event refers to something that is no longer open. `after` equals the snapshot before, and the store only
  // removes the message.
  enum class Outcome { applied, stale };
  Outcome outcome = Outcome::applied;
  std::uint64_t from_state_version = 0;
  Snapshot after;
  bool renamed = true;      // program or reference may have changed; the engine clears it if they did not
  bool unfinished = false;  // a checkpoint: commit, then advance again with Continued
  std::vector<TaskOpened> tasks_opened;
  std::vector<TaskClosed> tasks_closed;
  std::vector<Wait> waits_opened;  // the store indexes the timers among them by due time
  std::vector<WaitToken> waits_closed;
  std::vector<RunIntent> runs;
  std::vector<RunId> runs_cancelled;
  std::vector<InstanceStart> starts;
  std::vector<InstanceId> children_cancelled;
  std::vector<OutboxEvent> outbox;
  std::vector<BufferedSignal> signals_expired;  // the engine makes dead letters of them
  std::vector<LogEntry> log;
  std::optional<ParentNotice> notice;
  Trace trace;  // never stored
  bool operator==(const Advance&) const = default;
};

}  // namespace cairn
