// Computes the rows of a commit, the same on every back end. The functions are pure: they map the values of an Advance
// to the rows that people read.
#pragma once

#include <string_view>

#include "store/rows.h"
#include "store/store.h"

namespace cairn {

// Rows store whole milliseconds. Past instants round down. Due times round up, so that a timer never fires early.
Timestamp whole_ms(Timestamp at);
Timestamp whole_ms_up(Timestamp at);
Timestamp after(Timestamp at, Duration by);  // stops at the end of time

InstanceRow project_instance(const Snapshot& snapshot);
TaskRow project_task(const TaskOpened& task, const InstanceId& instance, Timestamp now);
RunRow project_run(const RunIntent& intent, const InstanceId& instance, Timestamp now);
// The start time of a submitted run: its own time, or now if that has passed.
Timestamp accepted_run_at(const RunRow& run, Timestamp at);
void accept_run(RunRow& run, Timestamp at, Wakeup& wakeup);
Wait project_wait(const Wait& wait);
// Whether the wait needs a row, because the store must find it by a signal's name or by its due time. All other waits
// are found through the instance's snapshot. A row for them would cost every step two more writes.
bool has_row(const Wait& wait);
// A run that starts leased has one audit row for both events. Readers of the trail get two events.
inline constexpr const char* created_leased = "created_leased";
void tell_event(std::vector<RunEvent>& told, RunEvent row);
// {class, code, message, ...} as one line, for `last_error`.
std::string error_line(const Json& error);

TaskEvent::Kind event_of(TaskStatus closed);

// The delivery log entry of an event that was offered to a sink.
SinkDelivery sink_delivery_of(const std::string& sink, const SinkResult& event);

// A wait without a key accepts every key; a wait with a key accepts only that key.
bool takes(const Json& wait_key, const Json& signal_key);
// `alone`: no other instance gets the signal, so if this instance does not take it, others can.
Message message_of(const CorrelatedSignal& signal, const InstanceId& target, bool alone);
CorrelatedSignal signal_of(const Json& message_body);
// A kept signal from the columns that a store has of it.
KeptSignal kept_signal_of(std::int64_t number, const Json& message_body, Timestamp at, std::optional<Timestamp> until);

bool asks_for(const LeaseRequest& request, std::string_view type);

// Why the unit can never be written, whatever the store contains: its state versions are not consecutive.
std::optional<Error> contradiction(const Unit& unit);

// When a run leased at `at` needs attention: its lease expires or its attempt times out.
Timestamp attention_at(const RunRow& leased, Timestamp at);

}  // namespace cairn
