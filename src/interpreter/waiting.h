// Code that `task`, `wait` and `signal` share with the options of `first`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "interpreter/turn.h"

namespace cairn {

// The instant of a wait; empty if it has passed (rule S10).
Result<std::optional<Timestamp>, Failure> due_of(Turn& turn, const WaitSpec& wait);

// The key that a signal wait expects: text, or null for any.
Result<Json, Failure> signal_key(Turn& turn, const SignalSpec& signal);
// Removes and answers the oldest kept signal that matches (rule S11). A signal whose `where` fails does not match.
std::optional<Json> take_kept_signal(Turn& turn, const SignalSpec& signal, const Json& key);
WaitToken open_signal(Turn& turn, const SignalSpec& signal, Json key);
// The specification that an open signal wait of this step belongs to, or nullptr.
const SignalSpec* find_signal(const Turn& turn, const WaitToken& token);

// Whether one more signal can be kept. On ErrorCode::limit the sender keeps the signal and the instance is unchanged.
Result<void> may_keep(const Setting& setting, const Snapshot& snapshot, const SignalReceived& signal);
// ErrorCode::invalid if the definition has a schema for this signal and the payload does not fit it.
Result<void> check_payload(const Program& program, const SignalReceived& signal);
// Keeps a signal that no wait takes, for the time that its sender or the definition gives. `held` as in BufferedSignal.
void keep_signal(Machine& machine, const SignalReceived& signal, Timestamp at, std::uint64_t held);
// Removes a kept signal whose time is over, and records that.
void expire_signal(Machine& machine, const std::string& id);
// Delivers a new signal to the wait that takes it, or keeps it. ErrorCode::limit if neither is possible.
Result<void> deliver_signal(Machine& machine, const SignalReceived& signal, Timestamp at);
// Offers the signals kept before a suspension to the open waits. An operator may have edited the state meanwhile.
void offer_kept_signals(Machine& machine);
// Delivers the kept signal at `index`, which arrived during a suspension, like a new one.
void offer_held_signal(Machine& machine, std::size_t index);

// An evaluated task that is not open yet.
struct TaskDraft {
  TaskOpened row;
  Json fields;  // as `task` in scope
  std::vector<Timestamp> reminders;
};
// The place of a task in the program: its step, or an option of `first`.
std::string task_place(const Turn& turn, std::optional<std::size_t> option);
Result<TaskDraft, Failure> draft_task(Turn& turn, const TaskSpec& task, const std::string& place);
// Opens the wait and the task row; `fields` receive the id.
WaitToken open_task(Turn& turn, TaskDraft& draft);
// `task` with the changes since it was opened that the timer event carries.
Json current_fields(const Json& fields, const Json& changed_by_task);
// `task` after its completion.
Json completed_fields(const Machine& machine, const Json& fields, const Wakening& wakening);
// Writes the event of a reminder (rule S30).
void emit_reminder(Turn& turn, const Json& task);

// The specification and the fields of the open task that waits in this step under `token`.
struct OpenTask {
  const TaskSpec* task = nullptr;
  Json fields;
  std::string place;  // of the step or option, unique in the program
};
std::optional<OpenTask> find_task(const Turn& turn, const WaitToken& token);
bool is_among(const std::vector<std::string>& people, const std::string& person);
// Who may not have or complete the task: `exclude`, evaluated now, and the people who completed another task of the
// same four-eyes group (rule S36).
Result<std::vector<std::string>, Failure> excluded_people(Turn& turn, const TaskSpec& task, const std::string& place);
// Remembers who completed a task of a four-eyes group.
void record_completion(Turn& turn, const OpenTask& task, const std::string& by);
// Whether the completion is acceptable: exclusion, form, guards (rule S4). Otherwise not_allowed or invalid.
Result<void> check_completion(Turn& turn, const OpenTask& task, const TaskCompleted& completion);

// The position of `token` in the frame's list under `key`.
std::optional<std::size_t> position_of(const Json& data, std::string_view key, const WaitToken& token);

}  // namespace cairn
