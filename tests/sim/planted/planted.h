// Tells which planted bug is active: the one that CAIRN_PLANTED names. Only in a tree created by plant.py.
#pragma once

#include <cstdlib>
#include <cstring>

namespace cairn {

inline bool planted(const char* name) {
  static const char* const chosen = std::getenv("CAIRN_PLANTED");
  return chosen != nullptr && std::strcmp(chosen, name) == 0;
}

}  // namespace cairn
