// Which planted bug is switched on: the one that CAIRN_PLANTED names. Only in a tree that plant.py has made.
#pragma once

#include <cstdlib>
#include <cstring>

namespace cairn {

inline bool planted(const char* name) {
  static const char* const chosen = std::getenv("CAIRN_PLANTED");
  return chosen != nullptr && std::strcmp(chosen, name) == 0;
}

}  // namespace cairn
