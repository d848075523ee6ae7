// Whether and when a failed attempt of a run is made again: one rule for every place that runs them.
#pragma once

#include <string_view>

#include "base/time.h"
#include "instance/advance.h"
#include "instance/failure.h"

namespace cairn {

// Not: definition, expression, authorization, business, no_handler_registered, and HTTP statuses other
// than 408, 425, 429 and 5xx (SEMANTICS S18, M1).
bool is_retryable(const Failure& failure);

// min(cap, backoff·factor^(failed - 1)) plus up to `jitter` times that. `failed` counts the attempts that
// were made. The jitter is derived from the run's id and the attempt, so it is the same on every replay.
Duration retry_delay(const RunIntent& run, int failed);

// An attempt that lasted longer than it may: class timeout, code call_timeout.
Failure call_timeout(Duration timeout, int attempt);

}  // namespace cairn
