// The first violation in a world.
#pragma once

#include <string>

namespace cairn::sim {

struct Violation {
  std::string invariant;  // such as I-05 waits; see docs/simulation.md
  std::string message;
};

}  // namespace cairn::sim
