#pragma once

#include <string>

#include "base/result.h"

namespace cairn::bench {

// Opens the store, prints "ready" and stays idle until the process is killed. Returns only if the store cannot be
// opened.
Result<void> stay_idle(const std::string& url);

// The same for a worker of the server at this address, which answers every call of the workloads.
Result<void> work_for(const std::string& server);

}  // namespace cairn::bench
