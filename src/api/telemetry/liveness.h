// Whether the process still makes progress, for supervisors that restart stuck processes.
#pragma once

#include <chrono>

#include "api/http_types.h"
#include "engine/core.h"

namespace cairn::api {

// A writer that has work but makes no progress for this long will not recover by itself.
inline constexpr std::chrono::seconds commit_stall_max{10};

// 200, or 503 if commits have been stuck for `stall_max`. It never blocks and may be called from any thread.
Response liveness(EngineCore& core, std::chrono::nanoseconds stall_max = commit_stall_max);

}  // namespace cairn::api
