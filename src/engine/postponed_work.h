// Work that this node could not do because the store failed, and when to look for due work again. No other place
// records it: a taken message or timer stays hidden until its hold expires, and an interrupted slice has no row. Safe
// from several threads.
#pragma once

#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/context.h"
#include "engine/listeners.h"

namespace cairn {

class PostponedWork {
 public:
  PostponedWork(EngineContext& context, Listeners& listeners) : context_(context), listeners_(listeners) {}

  // Some due work could not be done now: look for all due work when the hold expires.
  void look_again();
  // Interrupted slices that could not continue. They are retried when the hold expires.
  void add_slices(const std::vector<InstanceId>& interrupted);
  // Takes the slices to retry. The caller also looks for all due work.
  std::set<std::string> take_slices();
  // When to look again; empty: nothing was postponed.
  std::optional<Timestamp> next() const;

 private:
  EngineContext& context_;
  Listeners& listeners_;
  mutable std::mutex mutex_;
  std::set<std::string> slices_;
  std::optional<Timestamp> again_at_;
};

}  // namespace cairn
