// What can happen to an instance. An event carries its time; nothing else reads the clock.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "base/id.h"
#include "base/json.h"
#include "base/time.h"
#include "instance/failure.h"
#include "instance/snapshot.h"

namespace cairn {

struct Started {
  InstanceId instance;
  Json input = Json::object();
  std::optional<Reference> reference;  // given by the caller; otherwise the definition's own is evaluated
  std::optional<Reference> inherited;  // from the parent: used if neither of the two exists (rule S12)
  std::optional<Parent> parent;
  std::string trace;  // W3C traceparent of the caller; empty: none
};
// Continues a slice that a checkpoint has cut.
struct Continued {};
struct SignalReceived {
  std::string id;
  std::string name;
  Json key;  // text or null
  Json payload;
  std::optional<Timestamp> until = {};  // how long the sender wants it kept; absent: as the definition says
};
struct TimerFired {
  WaitToken token;
  Json task_fields;  // changed fields of the tasks open beside the timer, by task id; null: none
};
struct TaskCompleted {
  TaskId task;
  std::string by;
  Json payload;
  Json task_fields;  // fields changed since it was opened, as `task` in scope shows them: assignee; null: none
};
// Ends an open task that has not been touched for long. The step that waits for it fails (rule S38).
struct TaskExpired {
  TaskId task;
  std::string reason;
};
struct RunFinished {
  WaitToken token;
  Json result;
  std::optional<Failure> failure;  // final: no retry follows
  int attempt = 1;                 // the attempt that succeeded; a failure has its own
};
struct ChildFinished {
  WaitToken token;
  Json output;
  std::optional<Failure> failure;  // also for a cancelled child: business, cancelled
};
struct CancelRequested {
  std::string reason;
};
struct SuspendRequested {
  std::string reason;
};
struct ResumeRequested {  // continues a suspended instance unchanged
  std::string reason = {};
};
struct RetryRequested {  // runs the failed step again
  bool new_key = false;  // of a call: with a new idempotency key
  std::string reason = {};
};
struct SkipRequested {  // continues after the failed step with this result
  Json result;
  std::string reason = {};
};
struct StateEdited {
  Json merge_patch;  // RFC 7396
  std::string reason = {};
};
struct SignalDiscarded {  // removes a kept signal that no step will take
  std::string id;
  std::string reason = {};
};

using EventBody = std::variant<Started, Continued, SignalReceived, TimerFired, TaskCompleted, TaskExpired, RunFinished,
                               ChildFinished, CancelRequested, SuspendRequested, ResumeRequested, RetryRequested,
                               SkipRequested, StateEdited, SignalDiscarded>;

struct Event {
  EventId id;
  Timestamp at;
  std::string actor;  // who or what caused it, for the log
  EventBody what;
};

}  // namespace cairn
