// Decisions on a thread that may not call the store.
#pragma once

#include <optional>

#include "store/store_calls.h"

namespace cairn {

// What `decide` gives. Nothing when this thread may not call the store and that was needed, or there is an error to
// tell: a thread that may call it decides again.
template <class Decide>
auto try_here(const Decide& decide) -> std::optional<decltype(decide())> {
  if (!StoreCallsForbidden::here()) return decide();
  const MemoryOnly in_memory;
  auto decided = decide();
  if (!decided || !in_memory.sufficed()) return std::nullopt;
  return decided;
}

}  // namespace cairn
