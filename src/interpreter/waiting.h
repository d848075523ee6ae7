// What `task`, `wait` and `signal` share with the options of `first`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "interpreter/turn.h"

namespace cairn {

// The instant a wait is for; nothing when it has passed (S10).
Result<std::optional<Timestamp>, Failure> due_of(Turn& turn, const WaitSpec& wait);

// The key a signal wait asks for: text, or null for any.
Result<Json, Failure> signal_key(Turn& turn, const SignalSpec& signal);
// The oldest kept signal that fits, taken off (S11). One whose `where` fails does not fit.
std::optional<Json> take_kept_signal(Turn& turn, const SignalSpec& signal, const Json& key);
WaitToken open_signal(Turn& turn, const SignalSpec& signal, Json key);
// Which specification an open signal wait of this step belongs to, or nullptr.
const SignalSpec* find_signal(const Turn& turn, const WaitToken& token);

// Whether one more signal can be kept. ErrorCode::limit: the sender keeps it, and the instance goes on unchanged.
Result<void> may_keep(const Setting& setting, const Snapshot& snapshot, const std::string& name);
// A new signal: to the wait that takes it, or kept. ErrorCode::limit when neither is possible.
Result<void> deliver_signal(Machine& machine, const SignalReceived& signal, Timestamp at);
// Signals that were kept before a suspension to the open waits they fit: the state may have been edited meanwhile.
void offer_kept_signals(Machine& machine);
// The kept signal at `index`, which came during a suspension, as a new one.
void offer_held_signal(Machine& machine, std::size_t index);

// A task as evaluated, not open yet.
struct TaskDraft {
  TaskOpened row;
  Json fields;  // as `task` in scope
  Json exclude;
  std::vector<Timestamp> reminders;
};
Result<TaskDraft, Failure> draft_task(Turn& turn, const TaskSpec& task);
// Opens the wait and the row; `fields` get their id.
WaitToken open_task(Turn& turn, TaskDraft& draft);
// `task` with what a timer's event knows to have changed since it was opened.
Json current_fields(const Json& fields, const Json& changed_by_task);
// `task` as it is from completion on.
Json completed_fields(const Machine& machine, const Json& fields, const Wakening& wakening);
// The event of a reminder (M3).
void emit_reminder(Turn& turn, const Json& task);

// The specification, fields and exclusion of the open task that waits in this step under `token`.
struct OpenTask {
  const TaskSpec* task = nullptr;
  Json fields;
  Json exclude;
};
std::optional<OpenTask> find_task(const Turn& turn, const WaitToken& token);
// Whether the completion is acceptable: exclusion, form, guards (S4). not_allowed or invalid when not.
Result<void> check_completion(Turn& turn, const OpenTask& task, const TaskCompleted& completion);

// The position of `token` in the frame's list under `key`.
std::optional<std::size_t> position_of(const Json& data, std::string_view key, const WaitToken& token);

}  // namespace cairn
