// The first thing in a world that must not be.
#pragma once

#include <string>

namespace cairn::sim {

struct Violation {
  std::string invariant;  // I-05 waits, as in docs/simulation.md
  std::string message;
};

}  // namespace cairn::sim
