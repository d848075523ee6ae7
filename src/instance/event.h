// What can happen to an instance. Time comes in with the event; nothing else knows the clock.
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
  std::optional<Reference> reference;  // given by the caller; else the definition's own is evaluated
  std::optional<Reference> inherited;  // of the parent: used when there is neither of the two (SEMANTICS S12)
  std::optional<Parent> parent;
  std::string trace;  // W3C traceparent of whoever asked for it; empty: none
};
// The rest of a slice that a checkpoint cut.
struct Continued {};
struct SignalReceived {
  std::string id;
  std::string name;
  Json key;  // text or null
  Json payload;
};
struct TimerFired {
  WaitToken token;
  Json task_fields;  // by task id, what has changed of the tasks open beside the timer, as in TaskCompleted; null:
                     // nothing
};
struct TaskCompleted {
  TaskId task;
  std::string by;
  Json payload;
  Json task_fields;  // what changed since it was opened, as `task` in scope shows it: assignee; null: nothing
};
struct RunFinished {
  WaitToken token;
  Json result;
  std::optional<Failure> failure;  // final: retries are over
  int attempt = 1;                 // that succeeded; a failure has its own
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
struct ResumeRequested {};  // of a suspended instance, as it is
struct RetryRequested {};   // the failed step again
struct SkipRequested {      // past the failed step, with this result
  Json result;
};
struct StateEdited {
  Json merge_patch;  // RFC 7396
};
struct SignalDiscarded {  // a kept signal that no step will ever take
  std::string id;
};

// What happened.
using EventBody = std::variant<Started, Continued, SignalReceived, TimerFired, TaskCompleted, RunFinished, ChildFinished,
                               CancelRequested, SuspendRequested, ResumeRequested, RetryRequested, SkipRequested,
                               StateEdited, SignalDiscarded>;

struct Event {
  EventId id;
  Timestamp at;
  std::string actor;  // who or what caused it, for the log
  EventBody what;
};

}  // namespace cairn
