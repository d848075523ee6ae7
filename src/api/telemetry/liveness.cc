#include "api/telemetry/liveness.h"

#include "api/problem.h"

namespace cairn::api {

Response liveness(EngineCore& core, std::chrono::nanoseconds stall_max) {
  const auto stalled = core.deliveries().queue().stalled_for();
  if (stalled < stall_max) return {200, "text/plain; charset=utf-8", {}, "ok\n"};
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(stalled).count();
  return problem(503, "commit_stalled", "Commits make no progress",
                 "requests wait for the store, and nothing was written for " + std::to_string(seconds) +
                     " s; restart this process");
}

}  // namespace cairn::api
