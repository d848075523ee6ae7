// Whether the process still does its work, for whoever restarts processes that do not.
#pragma once

#include <chrono>

#include "engine/coordinator.h"
#include "http/server.h"

namespace cairn::server {

// A writer that has work and makes no progress for so long does not come back by itself.
inline constexpr std::chrono::seconds commit_stall_max{10};

// 200, or 503 when commits have been stuck for `stall_max`. It never blocks: any thread may ask.
Response liveness(const Coordinator& coordinator, std::chrono::nanoseconds stall_max = commit_stall_max);

}  // namespace cairn::server
