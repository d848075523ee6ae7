#pragma once

#include <string>

#include "base/result.h"

namespace cairn::bench {

// Opens the store, says "ready" on the standard output and does nothing more until the process is killed. Only
// returns when it cannot be opened.
Result<void> stay_idle(const std::string& url);

// The same for a worker of the server at this address, which answers every call of the workloads.
Result<void> work_for(const std::string& server);

}  // namespace cairn::bench
