// Each world runs in a process of its own: what its crashes leave behind goes with it, and a world that takes its
// process down has failed like any other.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "plan.h"
#include "world.h"

namespace cairn::sim {

// A folder of its own for the world that runs in this process, as working directory; for the few real files.
void enter_folder();

// How many worlds at once. Unset: as many as there are processors.
void set_jobs(std::size_t count);

// Runs `worlds` side by side; `done` is called as each ends, in any order.
void run_isolated(const std::vector<Plan>& worlds, const std::function<void(std::size_t, const WorldOutcome&)>& done);
WorldOutcome run_isolated(const Plan& plan);

}  // namespace cairn::sim
