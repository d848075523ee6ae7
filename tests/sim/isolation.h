// Each world runs in its own process. The leaks of its crashes end with it, and a world that crashes its process counts
// as failed.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "plan.h"
#include "world.h"

namespace cairn::sim {

// Creates a folder for the world of this process and makes it the working directory; for the few real files.
void enter_folder();

// The number of concurrent worlds. Default: the number of CPUs.
void set_jobs(std::size_t count);

// Runs `worlds` in parallel; calls `done` as each ends, in any order.
void run_isolated(const std::vector<Plan>& worlds, const std::function<void(std::size_t, const WorldOutcome&)>& done);
WorldOutcome run_isolated(const Plan& plan);

}  // namespace cairn::sim
