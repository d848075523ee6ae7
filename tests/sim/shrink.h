// Makes a failing world smaller while it still breaks the same invariant.
#pragma once

#include <string>

#include "plan.h"

namespace cairn::sim {

struct Shrunk {
  Plan plan;
  int tries = 0;
};

Shrunk shrink(Plan failing, const std::string& invariant, int tries_max);

}  // namespace cairn::sim
