// What `cairn dev` shows a new user: workers without code, and instances to look at.
#pragma once

#include <cstddef>

#include "cairn/engine.h"

namespace cairn::cli {

// demo.echo.v1 returns its payload. demo.flaky.v1 does the same, after it has failed as often as `fail` in its payload
// says.
void add_demo_workers(Engine& engine);

// Starts an instance that waits for a person, one that retries, and one that waits for a timer, if the store has no
// instances yet and these built-in definitions are deployed. Returns how many were started.
Result<std::size_t> start_examples(Engine& engine);

}  // namespace cairn::cli
