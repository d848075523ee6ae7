// Findings that need the whole definition: each looks at the draft after everything has been read.
#pragma once

namespace cairn {

struct Draft;

// Steps after `fail` or `complete` in the same list: warnings.
void check_unreachable(Draft& draft);
// Results that no expression reads: warnings.
void check_unread_results(Draft& draft);
// A workflow that always starts itself again before it waits for anything: errors.
void check_self_starts(Draft& draft);

}  // namespace cairn
