// What worlds should reach between them: every step kind, every lane, every verb of the store, every fault.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "definition/program.h"

namespace cairn::sim {

std::string kind_of(const StepBody& body);     // set, task, …
std::string lane_of(const std::string& lane);  // then, case, on_failure, …: without numbers and names

// Of everything that ought to be there, what is not.
std::vector<std::string> missing(const std::map<std::string, std::uint64_t>& reached);

}  // namespace cairn::sim
