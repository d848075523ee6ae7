// Checks that need the whole definition. Each runs on the draft after everything has been read.
#pragma once

namespace cairn {

struct Draft;

// Warns about steps after `fail` or `complete` in the same list.
void check_unreachable(Draft& draft);
// Warns about results that no expression reads.
void check_unread_results(Draft& draft);
// Reports a workflow that always starts itself again before it waits for anything.
void check_self_starts(Draft& draft);

// Reports `four_eyes` with names that no task has, and collects which tasks exclude each other.
void check_four_eyes(Draft& draft);
// Reports reads of state keys that nothing writes, and writes that `state_schema` does not allow.
void check_state_access(Draft& draft);

}  // namespace cairn
