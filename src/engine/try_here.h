// Decisions on a thread that may not call the store.
#pragma once

#include <optional>

#include "store/store_calls.h"

namespace cairn {

// Returns the decision. Empty if this thread may not call the store and the decision needs it, or is an error: then
// another thread must decide again.
template <class Decide>
auto try_here(const Decide& decide) -> std::optional<decltype(decide())> {
  if (!StoreCallsForbidden::here()) return decide();
  const MemoryOnly in_memory;
  auto decided = decide();
  if (!decided || !in_memory.sufficed()) return std::nullopt;
  return decided;
}

}  // namespace cairn
