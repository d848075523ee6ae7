// What all worlds together should reach: every step kind, every lane, every store call, every fault.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "definition/program.h"

namespace cairn::sim {

std::string kind_of(const StepBody& body);     // set, task, …
std::string lane_of(const std::string& lane);  // then, case, on_failure, …: without numbers and names

// The expected items that were not reached.
std::vector<std::string> missing(const std::map<std::string, std::uint64_t>& reached);

}  // namespace cairn::sim
