// Decides whether and when a failed attempt of a run is retried. Every caller that executes runs uses this one rule.
#pragma once

#include <string_view>

#include "base/time.h"
#include "instance/advance.h"
#include "instance/failure.h"

namespace cairn {

// Not retryable: definition, expression, authorization, business, no_handler_registered, and HTTP statuses other than
// 408, 425, 429 and 5xx (rules S18, S28).
bool is_retryable(const Failure& failure);

// min(cap, backoff·factor^(failed - 1)) plus up to `jitter` times that. `failed` counts the attempts so far. The jitter
// is derived from the run's id and the attempt, so it is the same on every replay.
Duration retry_delay(const RunIntent& run, int failed);

// The failure of an attempt that exceeded its timeout: class timeout, code call_timeout.
Failure call_timeout(Duration timeout, int attempt);

}  // namespace cairn
