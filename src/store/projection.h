// What the rows of a commit look like, the same on every back end: pure functions from the values
// of an Advance to the rows that people read.
#pragma once

#include <string_view>

#include "store/rows.h"
#include "store/store.h"

namespace cairn {

// Rows keep whole milliseconds. Instants in the past round down; due times round up, so that a timer
// never fires early.
Timestamp whole_ms(Timestamp at);
Timestamp whole_ms_up(Timestamp at);
Timestamp after(Timestamp at, Duration by);  // stops at the end of time

InstanceRow project_instance(const Snapshot& snapshot);
TaskRow project_task(const TaskOpened& task, const InstanceId& instance, Timestamp now);
RunRow project_run(const RunIntent& intent, const InstanceId& instance, Timestamp now);
// What a run is once it was submitted: it begins at its time, or now when that has passed.
Timestamp accepted_run_at(const RunRow& run, Timestamp at);
void accept_run(RunRow& run, Timestamp at, Wakeup& wakeup);
Wait project_wait(const Wait& wait);
// Whether the store has to find the wait by itself: by a signal's name, or when its time comes. All others are found by
// their instance, whose snapshot has them; a row more would only cost every step two writes.
bool has_row(const Wait& wait);
// A run that begins leased has one row in its trail for both; whoever reads the trail gets two events.
inline constexpr const char* created_leased = "created_leased";
void tell_event(std::vector<RunEvent>& told, RunEvent row);
// {class, code, message, ...} as one line for `last_error`.
std::string error_line(const Json& error);

TaskEvent::Kind event_of(TaskStatus closed);

// The log's entry about an event that a sink was offered.
SinkDelivery sink_delivery_of(const std::string& sink, const SinkResult& event);

// A wait without a key takes every key, a wait with one takes exactly that.
bool takes(const Json& wait_key, const Json& signal_key);
// `alone`: nobody else gets it, so that what this instance leaves is there for others.
Message message_of(const CorrelatedSignal& signal, const InstanceId& target, bool alone);
CorrelatedSignal signal_of(const Json& message_body);

bool asks_for(const LeaseRequest& request, std::string_view type);

// Why a unit can never be written, whatever the store holds: versions that do not follow each other.
std::optional<Error> contradiction(const Unit& unit);

// When a run that was leased at `at` wants attention: its lease ends, or its attempt has lasted too long.
Timestamp attention_at(const RunRow& leased, Timestamp at);

}  // namespace cairn
