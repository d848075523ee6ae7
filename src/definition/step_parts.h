// Parts that several kinds of steps share.
#pragma once

#include "definition/fields.h"

namespace cairn {

extern const KeyTable wait_table;
extern const KeyTable signal_table;
extern const KeyTable task_table;
extern const KeyTable reference_table;

// Reads `key` of `outer` as a wait, a signal or a task. Inside `first` (`option` is the lane, as in option0) they have
// no deadline and no timeout.
WaitSpec read_wait(Fields& outer, std::string_view key);
SignalSpec read_signal(Fields& outer, std::string_view key, bool in_first);
TaskSpec read_task(Fields& outer, std::string_view key, std::string_view option);
std::optional<ReferenceTemplate> read_reference(Fields& outer, std::string_view key, const Scope& scope);

// Reads `result` and records it for the warning about unread results.
std::optional<StatePath> read_result(Fields& fields);

// The type of `completion` according to the task's `form`.
expr::Type completion_type(const Fields& outer, std::string_view task_key);

}  // namespace cairn
