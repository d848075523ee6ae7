// Parts that several kinds of steps have in common.
#pragma once

#include "definition/fields.h"

namespace cairn {

extern const KeyTable wait_table;
extern const KeyTable signal_table;
extern const KeyTable task_table;
extern const KeyTable reference_table;

// `key` of `outer` as a wait, a signal, a task. Inside `first` (`option` is the lane, as in option0) they have no
// deadline and no timeout of their own.
WaitSpec read_wait(Fields& outer, std::string_view key);
SignalSpec read_signal(Fields& outer, std::string_view key, bool in_first);
TaskSpec read_task(Fields& outer, std::string_view key, std::string_view option);
std::optional<ReferenceTemplate> read_reference(Fields& outer, std::string_view key, const Scope& scope);

// `result`, remembered for the warning about results that nobody reads.
std::optional<StatePath> read_result(Fields& fields);

// The type of `completion` as the task's `form` promises it.
expr::Type completion_type(const Fields& outer, std::string_view task_key);

}  // namespace cairn
